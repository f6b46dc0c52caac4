;;; emacs-init.el --- What a user's init file says, for the test -*- lexical-binding: t; -*-

;; For `emacs -nw -Q -l emacs-init.el', with SKILLSD_CLIENT eglot or lsp-mode.

(setq package-directory-list '("/usr/share/emacs/site-lisp/elpa")
      inhibit-startup-screen t
      use-short-answers t
      create-lockfiles nil
      make-backup-files nil
      flymake-no-changes-timeout 0.1)
(menu-bar-mode -1)
(package-initialize)
(require 'markdown-mode)
(add-to-list 'load-path (expand-file-name "emacs" (getenv "EDITORS")))
(require 'skillsd)

(setq skillsd-client (intern (getenv "SKILLSD_CLIENT")))
(with-eval-after-load 'eglot
  (setq eglot-autoshutdown t eglot-send-changes-idle-time 0.1))
(when (eq skillsd-client 'lsp-mode)
  (require 'lsp-mode)
  (setq lsp-auto-guess-root t lsp-diagnostics-provider :flymake lsp-enable-file-watchers nil
        lsp-idle-delay 0.1 lsp-warn-no-matched-clients nil lsp-enable-snippet nil
        lsp-completion-provider :none lsp-enable-suggest-server-download nil
        lsp-session-file (expand-file-name "lsp-session" (getenv "HOME")))
  (lsp-workspace-folders-add (getenv "SKILL_ROOT")))
(skillsd-setup)
