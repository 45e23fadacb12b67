// Presses the page's one button, and takes the code out of the address and the history first. Without scripts the user presses it.
history.replaceState(null, '', '/')
document.forms[0]?.submit()
