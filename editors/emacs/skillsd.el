;;; skillsd.el --- Language server for SKILL.md, and why an agent sees a skill -*- lexical-binding: t; -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1"))
;; Keywords: languages, tools
;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Starts `skillsd lsp' for files named SKILL.md, with eglot or with lsp-mode, whichever is there:
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
  "The program and its arguments before the command."
  :type '(repeat string))

(defcustom skillsd-client nil
  "Which client runs the language server.
Nil takes eglot, or lsp-mode when only that is there."
  :type '(choice (const :tag "Whichever is there" nil) (const eglot) (const lsp-mode)))

(define-derived-mode skillsd-skill-mode text-mode "SKILL"
  "For a SKILL.md where markdown-mode is not installed.")

(defun skillsd--server (&rest _)
  "Return the command that starts the language server."
  (append skillsd-command '("lsp")))

(defun skillsd-skill-p (&optional file)
  "Return whether FILE, or the current buffer's file, is a SKILL.md."
  (let ((path (or file buffer-file-name)))
    (and path (string= (file-name-nondirectory path) "SKILL.md"))))

(defconst skillsd--speakers
  (concat "/\\(?:SKILL\\|CLAUDE\\(?:\\.local\\)?\\|AGENTS\\(?:\\.override\\)?\\|GEMINI\\)\\.md\\'"
          "\\|/\\(?:\\.\\(?:claude\\|opencode\\|agents\\|codex\\|gemini\\)\\|opencode\\)"
          "/\\(?:\\(?:command\\|agent\\)s?\\|prompts\\)/.*\\.md\\'")
  "Files that the language server is about: skills, and what speaks of them.")

(defun skillsd--ours-p (&optional file)
  "Return whether the language server is about FILE, or the current buffer's file."
  (let ((path (or file buffer-file-name)))
    (and path (let (case-fold-search) (string-match-p skillsd--speakers path)))))

(defun skillsd--client ()
  "Return the client to use, as a symbol; nil when there is none."
  (or skillsd-client
      (cond ((locate-library "eglot") 'eglot)
            ((locate-library "lsp-mode") 'lsp-mode))))

(defun skillsd--setup-eglot ()
  "Tell eglot of the language server."
  (require 'eglot)
  (dolist (mode '(markdown-mode gfm-mode skillsd-skill-mode))
    ;; Other Markdown files keep the server that was set up for them.
    (let ((before (alist-get mode eglot-server-programs)))
      (setf (alist-get mode eglot-server-programs)
            (lambda (&rest arguments)
              (cond ((skillsd--ours-p)
                     (append (skillsd--server) (list :initializationOptions (skillsd--options))))
                    ((functionp before) (apply before arguments))
                    (t before)))))))

;; A skill is renamed with its directory.  lsp-mode (8.0) follows a file that an edit renames, not the files
;; of a directory: their buffers would stay, unsaved, at places that are gone.
(defun skillsd--rename (apply edit &rest arguments)
  "Have APPLY do EDIT with ARGUMENTS; buffers of a renamed directory go along."
  (let* ((old (and (equal (lsp:edit-kind edit) "rename")
                   (lsp--uri-to-path (lsp:rename-file-old-uri edit))))
         (below (and old (file-directory-p old)
                     (seq-filter (lambda (buffer)
                                   (let ((file (buffer-file-name buffer)))
                                     (and file (file-in-directory-p file old))))
                                 (buffer-list))))
         (places (mapcar (lambda (buffer) (file-relative-name (buffer-file-name buffer) old)) below)))
    (dolist (buffer below)
      (with-current-buffer buffer
        (save-buffer)
        (when (bound-and-true-p lsp-mode)
          (lsp--text-document-did-close t))))
    (apply apply edit arguments)
    (let ((new (and below (lsp--uri-to-path (lsp:rename-file-new-uri edit)))))
      (cl-mapc (lambda (buffer place)
                 (with-current-buffer buffer
                   (set-visited-file-name (expand-file-name place new) t t)
                   (when (bound-and-true-p lsp-mode)
                     (setq lsp-buffer-uri nil)
                     (lsp))))
               below places))))

(defun skillsd--setup-lsp-mode ()
  "Tell lsp-mode of the language server."
  (require 'lsp-mode)
  (dolist (mode '(markdown-mode gfm-mode skillsd-skill-mode))
    (add-to-list 'lsp-language-id-configuration (cons mode "markdown")))
  (advice-add 'lsp--apply-text-document-edit :around #'skillsd--rename)
  (lsp-register-client
   (make-lsp-client :new-connection (lsp-stdio-connection #'skillsd--server)
                    :activation-fn (lambda (file _mode) (skillsd--ours-p file))
                    :initialization-options #'skillsd--options
                    :priority 1
                    :server-id 'skillsd)))

(defun skillsd--start ()
  "Start the language server when it is about the current buffer's file."
  (when (skillsd--ours-p)
    (unless (executable-find (car skillsd-command))
      (user-error "`%s' is not found; install skillsd, or set `skillsd-command'"
                  (car skillsd-command)))
    (skillsd--begin)
    (pcase (skillsd--client)
      ('eglot (eglot-ensure))
      ('lsp-mode (lsp-deferred))
      (_ (user-error "No language client: install eglot or lsp-mode")))))

;;;###autoload
(defun skillsd-setup ()
  "Start the language server for every SKILL.md that is opened from now on."
  (pcase (skillsd--client)
    ('eglot (skillsd--setup-eglot))
    ('lsp-mode (skillsd--setup-lsp-mode)))
  (unless (locate-library "markdown-mode")
    (add-to-list 'auto-mode-alist '("/SKILL\\.md\\'" . skillsd-skill-mode)))
  (dolist (hook '(markdown-mode-hook skillsd-skill-mode-hook))
    (add-hook hook #'skillsd--start)))

;; The editor's own conversations with the daemon, one for each worktree.  Files that are visited and
;; saved count as touched, so that the skills that wait for them are activated as for an agent.  None is
;; begun, and no daemon started, before a SKILL.md is visited or something is asked for.

(defvar skillsd--conversation nil
  "What tells this Emacs' conversations from others; nil before the first.")

(defvar skillsd--pending nil
  "Processes that tell of touched files and may not have ended.")

(defun skillsd--folder ()
  "Return the directory that the client works in for the current buffer.
Nil when it has none."
  (pcase (skillsd--client)
    ;; It tells the server where that really is.
    ('eglot (let ((project (project-current)))
              (and project (file-truename (project-root project)))))
    ('lsp-mode (and (featurep 'lsp-mode) buffer-file-name (lsp-workspace-root)))))

(defun skillsd--root ()
  "Return the worktree of the current buffer, else its directory.
It is the client's folder where there is one, so that the language server knows
the conversation about it by the same name."
  (directory-file-name
   (expand-file-name (or (skillsd--folder)
                         (locate-dominating-file default-directory ".git")
                         (locate-dominating-file default-directory ".skillsd.toml")
                         default-directory))))

(defun skillsd--options ()
  "Return what the language server is told at its start.
It is that the conversations are ours."
  (skillsd--begin)
  (list :session skillsd--conversation))

(defun skillsd--session ()
  "Return the flags that name the conversation about this worktree."
  (list "--session" (concat skillsd--conversation ":" (skillsd--root))))

(defun skillsd--touch (operation)
  "Tell that OPERATION was done to the current buffer's file, without waiting."
  (when (and buffer-file-name (not (file-remote-p buffer-file-name))
             (file-exists-p buffer-file-name))
    (push (make-process
           :name "skillsd-touch" :noquery t :connection-type 'pipe
           :command (append skillsd-command
                            (list "touch" "--cwd" (skillsd--root) "--op" operation)
                            (skillsd--session) (list "--" buffer-file-name)))
          skillsd--pending)))

(defun skillsd--visited () "Touch the file that was visited." (skillsd--touch "read"))

(defun skillsd--saved () "Touch the file that was saved." (skillsd--touch "write"))

(defun skillsd--begin ()
  "Begin the conversation, with the files that are visited now."
  (when (and (null skillsd--conversation) (executable-find (car skillsd-command)))
    (setq skillsd--conversation (format "emacs-%d-%d" (emacs-pid) (float-time)))
    (add-hook 'find-file-hook #'skillsd--visited)
    (add-hook 'after-save-hook #'skillsd--saved)
    (dolist (buffer (buffer-list))
      (with-current-buffer buffer (skillsd--visited)))))

(defun skillsd--seen ()
  "Return the flags that show things as this worktree's conversation sees them."
  (skillsd--begin)
  (let ((end (+ (float-time) 2)))
    (while (and (< (float-time) end)
                (setq skillsd--pending (seq-filter #'process-live-p skillsd--pending)))
      (accept-process-output nil 0.02)))
  (and skillsd--conversation (skillsd--session)))

(defun skillsd--show (name &rest arguments)
  "Run the program with ARGUMENTS here and show what it says in the buffer NAME."
  (unless (executable-find (car skillsd-command))
    (user-error "`%s' is not found; install skillsd, or set `skillsd-command'" (car skillsd-command)))
  (let ((dir (file-name-as-directory (skillsd--root))))
    (with-current-buffer (get-buffer-create name)
      (let ((inhibit-read-only t)
            (default-directory dir))
        (erase-buffer)
        (apply #'call-process (car skillsd-command) nil t nil
               (append (cdr skillsd-command) '("--color" "never") arguments))
        (goto-char (point-min))
        (special-mode))
      (display-buffer (current-buffer)))))

;;;###autoload
(defun skillsd-explain (skill)
  "Explain why an agent sees SKILL or does not; by name, or the current file."
  (interactive
   (list (let ((name (read-string "Skill (default: this file): ")))
           (if (string-empty-p name) buffer-file-name name))))
  (apply #'skillsd--show "*skillsd explain*" "explain" skill (skillsd--seen)))

;;;###autoload
(defun skillsd-list ()
  "List the skills an agent would see here, and the others with the reason."
  (interactive)
  (apply #'skillsd--show "*skillsd list*" "list" "--all" (skillsd--seen)))

;;;###autoload
(defun skillsd-catalog (&optional profile)
  "Show what an agent's prompt is told of the skills here.
PROFILE is the agent's; without one that of the configuration counts."
  (interactive (list (read-string "Profile (default: that of the configuration): ")))
  (apply #'skillsd--show "*skillsd catalog*" "catalog"
         (append (unless (string-empty-p (or profile "")) (list "--profile" profile))
                 (skillsd--seen))))

;;;###autoload
(defun skillsd-trust ()
  "Trust the skills of this worktree.
The program asks in a terminal, since only a person grants."
  (interactive)
  (unless (executable-find (car skillsd-command))
    (user-error "`%s' is not found; install skillsd, or set `skillsd-command'" (car skillsd-command)))
  (let ((arguments (append (cdr skillsd-command) (list "trust" (skillsd--root)))))
    (pop-to-buffer (apply #'make-term "skillsd trust" (car skillsd-command) nil arguments))
    (term-char-mode)))

;;;###autoload
(defun skillsd-log ()
  "Show the log of the daemon."
  (interactive)
  (skillsd--show "*skillsd log*" "logs"))

(provide 'skillsd)
;;; skillsd.el ends here
