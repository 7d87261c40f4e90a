/* The words of three failures that are the house's, or are told as another one. */
#error "Unsupported gpu architecture; Disk quota exceeded; bwrap: execvp: Permission denied"
