;;; emacs.el --- Drives a real Emacs with editors/emacs/skillsd.el -*- lexical-binding: t; -*-

;; `emacs -Q --batch -l emacs.el', with SKILLSD_CLIENT eglot or lsp-mode. Prints a line for each step;
;; the exit code is that of the first step that fails.

(setq package-directory-list '("/usr/share/emacs/site-lisp/elpa"))
(package-initialize)
(require 'markdown-mode)
(require 'flymake)
(add-to-list 'load-path (expand-file-name "emacs" (getenv "EDITORS")))
(require 'skillsd)

(defvar client (intern (getenv "SKILLSD_CLIENT")))
(defvar file (getenv "SKILL_FILE"))

(defun check (name good &optional detail)
  (princ (format "%s %s%s\n" (if good "ok  " "FAIL") name (if good "" (format ": %S" detail))))
  (unless good (kill-emacs 1)))

(defun wait-for (seconds predicate)
  (let ((end (+ (float-time) seconds)) found)
    (while (and (not (setq found (funcall predicate))) (< (float-time) end))
      (accept-process-output nil 0.05))
    found))

(setq skillsd-client client)
(with-eval-after-load 'eglot
  (setq eglot-sync-connect 20 eglot-autoshutdown t eglot-send-changes-idle-time 0.1))
(setq flymake-no-changes-timeout 0.1)
(when (eq client 'lsp-mode)
  (require 'lsp-mode)
  (setq lsp-session-file (make-temp-file "lsp-session") lsp-auto-guess-root t
        lsp-diagnostics-provider :flymake lsp-enable-file-watchers nil lsp-idle-delay 0.05
        lsp-warn-no-matched-clients nil lsp-enable-snippet nil)
  (lsp-workspace-folders-add (getenv "SKILL_ROOT")))
(skillsd-setup)

(find-file file)
(unless (derived-mode-p 'markdown-mode) (markdown-mode))
;; In batch nothing runs when Emacs is idle, so what waits for that is asked for.
(pcase client
  ('eglot (unless (eglot-current-server) (apply #'eglot (eglot--guess-contact)))
          (flymake-mode 1) (flymake-start))
  ('lsp-mode (lsp)))

(defun findings ()
  "Return the findings as (LINE . MESSAGE)."
  (pcase client
    ('eglot (mapcar (lambda (it) (cons (line-number-at-pos (flymake-diagnostic-beg it))
                                       (flymake-diagnostic-text it)))
                    (flymake-diagnostics)))
    ('lsp-mode (mapcar (lambda (it)
                         (cons (1+ (lsp:position-line (lsp:range-start (lsp:diagnostic-range it))))
                               (lsp:diagnostic-message it)))
                       (gethash (lsp--fix-path-casing (buffer-file-name)) (lsp-diagnostics t))))))

(check "a finding appears" (wait-for 30 #'findings))
(check "it lies on the line of the description" (= 3 (caar (findings))) (findings))

(goto-char (point-min))
(search-forward "Deploys: to")
(replace-match "Deploys to")
(pcase client ('eglot (eglot--signal-textDocument/didChange)))
(check "the finding goes when the text is mended"
       (progn (wait-for 15 (lambda () (null (findings)))) (null (findings))) (findings))

(skillsd-list)
(check "M-x skillsd-list lists the skill"
       (with-current-buffer "*skillsd list*" (string-match-p "deploy" (buffer-string))))
(set-buffer-modified-p nil)
(kill-emacs 0)
