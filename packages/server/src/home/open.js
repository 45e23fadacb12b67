// Removes the code from the address and the history, then submits the page's form. Without scripts the user presses the button.
history.replaceState(null, '', '/')
document.forms[0]?.submit()
