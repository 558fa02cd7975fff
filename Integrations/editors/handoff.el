;;; handoff.el --- Continue files on other devices  -*- lexical-binding: t -*-

;; Offers the current file of Emacs 27 and later to the user's other devices, and opens files from them.  docs/editors.md
;; describes it.  Enable it in init.el with: (load "/usr/share/handoff/editors/handoff")

;;; Code:
(require 'json)

(defvar handoff-program
  (let* ((folder (file-name-directory (or load-file-name buffer-file-name)))
         (near (expand-file-name "handoff-editor" folder)))
    (if (file-executable-p near) near (expand-file-name "../../../bin/handoff-editor" folder)))
  "The program that connects Emacs with Handoff.")
(defvar handoff--process nil)
(defvar handoff--front nil "The buffer of the file that was offered last.")
(defvar handoff--input "")
(defvar handoff--notes nil)

(defun handoff--send (message)
  "Send MESSAGE to the program."
  (when (process-live-p handoff--process)
    (ignore-errors (process-send-string handoff--process (concat (json-encode message) "\n")))))

(defun handoff--state ()
  "Return the position in the offered file."
  (if (not (buffer-live-p handoff--front)) (make-hash-table)
    (with-current-buffer handoff--front
      (let ((point (let ((window (get-buffer-window nil t))) (if window (window-point window) (point)))))
        (save-restriction
          (widen)
          `((file . ,(expand-file-name (or buffer-file-name ""))) (line . ,(line-number-at-pos point))
            (column . ,(1+ (- point (save-excursion (goto-char point) (line-beginning-position)))))
            (unsaved . ,(if (buffer-modified-p) t json-false))))))))

(defun handoff--show (&rest _)
  "Offer the current file."
  (let* ((buffer (window-buffer (selected-window))) (file (buffer-file-name buffer)))
    ;; A path that is not UTF-8 cannot be offered.
    (when (and file (not (file-remote-p file)) (not (string-match-p "[\x3fff80-\x3fffff]" file)))
      (setq handoff--front buffer)
      (handoff--send `((front . ,(expand-file-name file)))))))

(defun handoff--focus ()
  "Offer the current file of a frame that has received the focus."
  (when (eq (frame-focus-state) t) (handoff--show)))

(defun handoff--beside (text)
  "Show TEXT in a separate buffer."
  (let ((buffer (generate-new-buffer "*handoff unsaved text*")))
    (with-current-buffer buffer (insert text) (goto-char (point-min)))
    (pop-to-buffer buffer)))

(defun handoff--text (path)
  "Return the text of the file at PATH, and delete the file."
  (prog1 (with-temp-buffer
           (let ((coding-system-for-read 'utf-8-unix)) (insert-file-contents path))
           (buffer-string))
    (delete-file path)))

(defun handoff--open (message)
  "Open the file of MESSAGE."
  (let* ((file (alist-get 'file message)) (path (alist-get 'text message)) (text (and path (handoff--text path)))
         (notes (append (alist-get 'notes message) nil)) lock
         ;; Each of these would show a prompt, which would block Emacs.
         (enable-local-variables (and (eq (alist-get 'modelines message) t) :safe)) (enable-local-eval nil)
         (large-file-warning-threshold nil) (vc-follow-symlinks t) (find-file-suppress-same-file-warnings t))
    (when (> (minibuffer-depth) 0) (select-window (or (minibuffer-selected-window) (get-largest-window))))
    (when file
      ;; Do not pass names with a colon or ~ to a handler of remote files.
      (let ((buffer (let ((file-name-handler-alist nil)) (find-file-noselect file t))))
        (pop-to-buffer-same-window buffer)
        ;; Another program, such as git, may have changed the file after it was read.
        (unless (or (buffer-modified-p) (verify-visited-file-modtime))
          (ignore-errors (revert-buffer t t t)))
        (widen)
        (setq lock (file-locked-p file))
        (when (stringp lock) (push (format "%s has the file open in another Emacs: it is opened read-only" lock) notes)
              (setq buffer-read-only t))
        (when (and buffer-auto-save-file-name (file-newer-than-file-p buffer-auto-save-file-name file))
          (push "there is an auto-save file that is newer: M-x recover-this-file" notes))))
    (when text
      (when (and file (buffer-modified-p))
        (push "the file has unsaved changes here: the text is shown next to it" notes))
      ;; Emacs would write the text to the disk.
      (when (and file (bound-and-true-p auto-save-visited-mode))
        (push "files are saved automatically: the text is shown next to the file" notes))
      (if (and file (eq (alist-get 'apply message) t) (not (buffer-modified-p)) (not buffer-read-only)
               (not (bound-and-true-p auto-save-visited-mode)) (verify-visited-file-modtime))
          (let ((inhibit-modification-hooks nil))
            (save-restriction
              (widen)
              (undo-boundary)
              (delete-region (point-min) (point-max))
              (insert text)
              (undo-boundary))
            (set-buffer-modified-p t)
            (setq notes (append notes '("the text is not saved yet"))))
        (handoff--beside text)))
    (when (or file text)
      (goto-char (point-min))
      (forward-line (1- (alist-get 'line message)))
      (when (and (eobp) (bolp) (not (bobp)) (> (alist-get 'line message) (line-number-at-pos))) (forward-line -1))
      (goto-char (min (line-end-position) (+ (line-beginning-position) (1- (alist-get 'column message)))))
      (set-window-point (selected-window) (point)))
    (setq handoff--notes notes)
    (when notes (let ((message-truncate-lines t)) (message "Handoff: %s" (string-join notes "; "))))))

(defun handoff--received (line)
  "Handle LINE of the program."
  (let* ((message (ignore-errors (json-read-from-string line))) (what (and (listp message) (alist-get 'do message))))
    (cond
     ((equal what "state") (handoff--send `((state . ,(handoff--state)))))
     ((equal what "text")
      (let ((state (handoff--state)) (path (alist-get 'path message)))
        (when (listp state)
          ;; A request without a reply would prevent all later ones.
          (condition-case nil
              (with-current-buffer handoff--front
                (save-restriction
                  (widen)
                  (let ((coding-system-for-write 'utf-8-unix)) (write-region nil nil path nil 'silent))))
            (error (setq state (make-hash-table)))))
        (handoff--send `((text . t) (state . ,state)))))
     ;; Do not run inside the filter, in which errors and quits have other effects.
     ((equal what "open")
      (run-at-time 0 nil (lambda ()
                           (condition-case error (handoff--open message)
                             (error (message "Handoff: %s" (error-message-string error))))))))))

(defun handoff--filter (_process output)
  "Handle the complete lines of OUTPUT."
  (let* ((json-false :json-false) (json-null nil) (lines (split-string (concat handoff--input output) "\n")))
    (setq handoff--input (car (last lines)))
    (mapc #'handoff--received (butlast lines))))

(defun handoff--is-visible ()
  "Return t unless this is a daemon without frames on a screen or terminal."
  (seq-some (lambda (frame) (not (equal (terminal-name frame) "initial_terminal"))) (frame-list)))

(defun handoff--frame-deleted (_frame)
  "Disconnect once no frame is visible."
  (unless (handoff--is-visible) (handoff--disconnect)))

(defun handoff-start ()
  "Connect Emacs with Handoff.  A daemon is connected while it has visible frames: a file opened in another would not be seen."
  (when (daemonp)
    (add-hook 'server-after-make-frame-hook #'handoff-start)
    (add-hook 'after-delete-frame-functions #'handoff--frame-deleted))
  (unless (or (process-live-p handoff--process) (not (handoff--is-visible)))
    (setq handoff--input "" handoff--process
          (make-process :name "handoff" :command (list handoff-program "serve" "emacs") :connection-type 'pipe :noquery t
                        :coding 'utf-8-unix :filter #'handoff--filter
                        :stderr (let ((buffer (get-buffer-create " *handoff errors*")))
                                  (make-pipe-process :name "handoff errors" :buffer buffer :noquery t :sentinel #'ignore))
                        :sentinel #'ignore))
    (add-hook 'window-buffer-change-functions #'handoff--show)
    (add-hook 'window-selection-change-functions #'handoff--show)
    (add-hook 'after-save-hook #'handoff--show)
    (add-function :after after-focus-change-function #'handoff--focus)
    (handoff--show)))

(defun handoff-stop ()
  "Disconnect Emacs from Handoff."
  (interactive)
  (remove-hook 'server-after-make-frame-hook #'handoff-start)
  (remove-hook 'after-delete-frame-functions #'handoff--frame-deleted)
  (handoff--disconnect))

(defun handoff--disconnect ()
  "End the program, and follow no more files."
  (remove-hook 'window-buffer-change-functions #'handoff--show)
  (remove-hook 'window-selection-change-functions #'handoff--show)
  (remove-hook 'after-save-hook #'handoff--show)
  (remove-function after-focus-change-function #'handoff--focus)
  (when (process-live-p handoff--process) (delete-process handoff--process)))

(if noninteractive nil
  (if after-init-time (handoff-start) (add-hook 'emacs-startup-hook #'handoff-start)))

(provide 'handoff)
;;; handoff.el ends here
