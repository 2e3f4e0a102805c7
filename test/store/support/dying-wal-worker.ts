/** A thread for the log that dies at once, as when the disk is full. */
throw new Error('disk full')
