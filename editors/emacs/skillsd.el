;;; skillsd.el --- Language server and commands for agent skills (SKILL.md) -*- lexical-binding: t; -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1"))
;; Keywords: languages, tools
;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Starts `skillsd lsp' for SKILL.md and files that mention skills, with eglot or lsp-mode:
;;
;;     (add-to-list 'load-path "/path/to/skillsd/editors/emacs")
;;     (require 'skillsd)
;;     (skillsd-setup)

;;; Code:

(require 'cl-lib)
(require 'seq)
(require 'subr-x)

(declare-function term-char-mode "term")
(declare-function eglot-ensure "eglot")
(declare-function lsp-register-client "lsp-mode")
(declare-function lsp-deferred "lsp-mode")
(declare-function lsp-stdio-connection "lsp-mode")
(declare-function make-lsp-client "lsp-mode")
(declare-function lsp "lsp-mode")
(declare-function lsp--text-document-did-close "lsp-mode")
(declare-function lsp--uri-to-path "lsp-mode")
(declare-function lsp-workspace-root "lsp-mode")
(declare-function project-root "project")
(declare-function lsp:edit-kind "lsp-protocol")
(declare-function lsp:rename-file-new-uri "lsp-protocol")
(declare-function lsp:rename-file-old-uri "lsp-protocol")
(defvar lsp-buffer-uri)
(defvar eglot-server-programs)
(defvar lsp-language-id-configuration)

(defgroup skillsd nil
  "Agent skills: SKILL.md."
  :group 'tools
  :prefix "skillsd-")

(defcustom skillsd-command '("skillsd")
  "The program and its arguments before the subcommand."
  :type '(repeat string))

(defconst skillsd--install-directories
  '("~/.cargo/bin" "~/.local/bin" "~/.npm-global/bin" "/opt/homebrew/bin" "/usr/local/bin")
  "Directories in which cargo, pip, uv, npm and Homebrew install programs.
Emacs often has a shorter `exec-path' if no shell started it.")

(defun skillsd--program ()
  "Return the path of the program, or nil if it is not installed."
  (let ((exec-path (append exec-path (mapcar #'expand-file-name skillsd--install-directories))))
    (executable-find (car skillsd-command))))

(defun skillsd--found-program ()
  "Return the path of the program, or tell the user that it is missing."
  (or (skillsd--program)
      (user-error "Cannot find `%s'; install skillsd, or set `skillsd-command'"
                  (car skillsd-command))))

(defcustom skillsd-client nil
  "The LSP client that runs the language server.
Nil means eglot if it is installed, else lsp-mode."
  :type '(choice (const :tag "Any installed" nil) (const eglot) (const lsp-mode)))

(define-derived-mode skillsd-skill-mode text-mode "SKILL"
  "Major mode for SKILL.md if markdown-mode is not installed.")

(defun skillsd--server (&rest _)
  "Return the command that starts the language server."
  (cons (or (skillsd--program) (car skillsd-command)) (append (cdr skillsd-command) '("lsp"))))

(defun skillsd-skill-p (&optional file)
  "Return non-nil if FILE is a SKILL.md.
FILE defaults to the current buffer's file."
  (let ((path (or file buffer-file-name)))
    (and path (string= (file-name-nondirectory path) "SKILL.md"))))

(defconst skillsd--file-regexp
  (concat "/\\(?:SKILL\\|CLAUDE\\(?:\\.local\\)?\\|AGENTS\\(?:\\.override\\)?\\|GEMINI\\)\\.md\\'"
          "\\|/\\(?:\\.\\(?:claude\\|opencode\\|agents\\|codex\\|gemini\\)\\|opencode\\)"
          "/\\(?:\\(?:command\\|agent\\)s?\\|prompts\\)/.*\\.md\\'")
  "Regexp of files that the language server supports.")

(defun skillsd--supported-p (&optional file)
  "Return non-nil if the language server supports FILE.
FILE defaults to the current buffer's file."
  (let ((path (or file buffer-file-name)))
    (and path (let (case-fold-search) (string-match-p skillsd--file-regexp path)))))

(defun skillsd--client ()
  "Return the LSP client to use, as a symbol; nil if none is installed."
  (or skillsd-client
      (cond ((locate-library "eglot") 'eglot)
            ((locate-library "lsp-mode") 'lsp-mode))))

(defun skillsd--setup-eglot ()
  "Register the language server with eglot."
  (require 'eglot)
  (dolist (mode '(markdown-mode gfm-mode skillsd-skill-mode))
    ;; Other Markdown files keep their server.
    (let ((before (alist-get mode eglot-server-programs)))
      (setf (alist-get mode eglot-server-programs)
            (lambda (&rest arguments)
              (cond ((skillsd--supported-p)
                     (append (skillsd--server) (list :initializationOptions (skillsd--options))))
                    ((functionp before) (apply before arguments))
                    (t before)))))))

;; Renaming a skill renames its directory.  lsp-mode 8.0 updates the buffer of a renamed file, but not the
;; buffers of files in a renamed directory: they would keep visiting paths that no longer exist.
(defun skillsd--rename (apply edit &rest arguments)
  "Call APPLY with EDIT and ARGUMENTS, and update buffers in a renamed directory."
  (let* ((old (and (equal (lsp:edit-kind edit) "rename")
                   (lsp--uri-to-path (lsp:rename-file-old-uri edit))))
         (below (and old (file-directory-p old)
                     (seq-filter (lambda (buffer)
                                   (let ((file (buffer-file-name buffer)))
                                     (and file (file-in-directory-p file old))))
                                 (buffer-list))))
         (names (mapcar (lambda (buffer) (file-relative-name (buffer-file-name buffer) old)) below)))
    (dolist (buffer below)
      (with-current-buffer buffer
        (save-buffer)
        (when (bound-and-true-p lsp-mode)
          (lsp--text-document-did-close t))))
    (apply apply edit arguments)
    (let ((new (and below (lsp--uri-to-path (lsp:rename-file-new-uri edit)))))
      (cl-mapc (lambda (buffer name)
                 (with-current-buffer buffer
                   (set-visited-file-name (expand-file-name name new) t t)
                   (when (bound-and-true-p lsp-mode)
                     (setq lsp-buffer-uri nil)
                     (lsp))))
               below names))))

(defun skillsd--setup-lsp-mode ()
  "Register the language server with lsp-mode."
  (require 'lsp-mode)
  (dolist (mode '(markdown-mode gfm-mode skillsd-skill-mode))
    (add-to-list 'lsp-language-id-configuration (cons mode "markdown")))
  (advice-add 'lsp--apply-text-document-edit :around #'skillsd--rename)
  (lsp-register-client
   (make-lsp-client :new-connection (lsp-stdio-connection #'skillsd--server)
                    :activation-fn (lambda (file _mode) (skillsd--supported-p file))
                    :initialization-options #'skillsd--options
                    :priority 1
                    :server-id 'skillsd)))

(defun skillsd--start ()
  "Start the language server if it supports the current buffer's file."
  (when (skillsd--supported-p)
    (skillsd--found-program)
    (skillsd--start-session)
    (pcase (skillsd--client)
      ('eglot (eglot-ensure))
      ('lsp-mode (lsp-deferred))
      (_ (user-error "No LSP client found; install eglot or lsp-mode")))))

;;;###autoload
(defun skillsd-setup ()
  "Start the language server for every supported file opened from now on."
  (pcase (skillsd--client)
    ('eglot (skillsd--setup-eglot))
    ('lsp-mode (skillsd--setup-lsp-mode)))
  (unless (locate-library "markdown-mode")
    (add-to-list 'auto-mode-alist '("/SKILL\\.md\\'" . skillsd-skill-mode)))
  (dolist (hook '(markdown-mode-hook skillsd-skill-mode-hook))
    (add-hook hook #'skillsd--start)))

;; The editor's own sessions with the daemon, one for each worktree.  Files visited and saved count as
;; touched, so that skills with matching `paths' are activated as they are for an agent.  The sessions
;; start, and with them the daemon, with the first supported file or the first command.

(defvar skillsd--session-prefix nil
  "Prefix of this Emacs' session ids; nil before the first session.")

(defvar skillsd--pending nil
  "Processes that report touched files and may still be running.")

(defun skillsd--folder ()
  "Return the LSP client's root for the current buffer; nil if there is none."
  (pcase (skillsd--client)
    ;; Eglot sends the true name to the server.
    ('eglot (let ((project (project-current)))
              (and project (file-truename (project-root project)))))
    ('lsp-mode (and (featurep 'lsp-mode) buffer-file-name (lsp-workspace-root)))))

(defun skillsd--root ()
  "Return the worktree of the current buffer, else its directory.
The LSP client's root takes precedence, so that the language server uses the
same session id."
  (directory-file-name
   (expand-file-name (or (skillsd--folder)
                         (locate-dominating-file default-directory ".git")
                         (locate-dominating-file default-directory ".skillsd.toml")
                         default-directory))))

(defun skillsd--options ()
  "Return the initialization options of the language server.
They name the sessions."
  (skillsd--start-session)
  (list :session skillsd--session-prefix))

(defun skillsd--session ()
  "Return the flags that select the session of this worktree."
  (list "--session" (concat skillsd--session-prefix ":" (skillsd--root))))

(defun skillsd--touch (operation)
  "Report OPERATION on the current buffer's file, without waiting."
  (when (and buffer-file-name (not (file-remote-p buffer-file-name))
             (file-exists-p buffer-file-name))
    (push (make-process
           :name "skillsd-touch" :noquery t :connection-type 'pipe
           :command (append (list (skillsd--found-program)) (cdr skillsd-command)
                            (list "touch" "--cwd" (skillsd--root) "--op" operation)
                            (skillsd--session) (list "--" buffer-file-name)))
          skillsd--pending)))

(defun skillsd--visited () "Report that the current file was visited." (skillsd--touch "read"))

(defun skillsd--saved () "Report that the current file was saved." (skillsd--touch "write"))

(defun skillsd--start-session ()
  "Start the sessions, and report the files visited now."
  (when (and (null skillsd--session-prefix) (skillsd--program))
    (setq skillsd--session-prefix (format "emacs-%d-%d" (emacs-pid) (float-time)))
    (add-hook 'find-file-hook #'skillsd--visited)
    (add-hook 'after-save-hook #'skillsd--saved)
    (dolist (buffer (buffer-list))
      (with-current-buffer buffer (skillsd--visited)))))

(defun skillsd--synced-session ()
  "Return the session flags, after all touches are reported."
  (skillsd--start-session)
  (let ((end (+ (float-time) 2)))
    (while (and (< (float-time) end)
                (setq skillsd--pending (seq-filter #'process-live-p skillsd--pending)))
      (accept-process-output nil 0.02)))
  (and skillsd--session-prefix (skillsd--session)))

(defun skillsd--show (name &rest arguments)
  "Run the program with ARGUMENTS and show its output in the buffer NAME."
  (let ((program (skillsd--found-program))
        (dir (file-name-as-directory (skillsd--root))))
    (with-current-buffer (get-buffer-create name)
      (let ((inhibit-read-only t)
            (default-directory dir))
        (erase-buffer)
        (apply #'call-process program nil t nil
               (append (cdr skillsd-command) '("--color" "never") arguments))
        (goto-char (point-min))
        (special-mode))
      (display-buffer (current-buffer)))))

;;;###autoload
(defun skillsd-explain (skill)
  "Explain why an agent loads SKILL or not; by name, or the current file."
  (interactive
   (list (let ((name (read-string "Skill (default: this file): ")))
           (if (string-empty-p name) buffer-file-name name))))
  (apply #'skillsd--show "*skillsd explain*" "explain" skill (skillsd--synced-session)))

;;;###autoload
(defun skillsd-list ()
  "List the skills an agent loads here, and the others with the reason."
  (interactive)
  (apply #'skillsd--show "*skillsd list*" "list" "--all" (skillsd--synced-session)))

;;;###autoload
(defun skillsd-catalog (&optional profile)
  "Show the prompt listing of the skills here.
PROFILE defaults to the configured one."
  (interactive (list (read-string "Profile (default: the configured one): ")))
  (apply #'skillsd--show "*skillsd catalog*" "catalog"
         (append (unless (string-empty-p (or profile "")) (list "--profile" profile))
                 (skillsd--synced-session))))

;;;###autoload
(defun skillsd-trust ()
  "Trust the skills of this worktree.
The program asks in a terminal, because only a person can grant trust."
  (interactive)
  (let ((program (skillsd--found-program))
        (arguments (append (cdr skillsd-command) (list "trust" (skillsd--root)))))
    (pop-to-buffer (apply #'make-term "skillsd trust" program nil arguments))
    (term-char-mode)))

;;;###autoload
(defun skillsd-log ()
  "Show the log of the daemon."
  (interactive)
  (skillsd--show "*skillsd log*" "logs"))

(provide 'skillsd)
;;; skillsd.el ends here
