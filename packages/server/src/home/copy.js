// Shows the buttons that copy a command, if the browser allows pages to copy. Without scripts the user selects the text.
const SHOWN_MS = 2_000

for (const button of document.querySelectorAll('button[data-copies]')) {
  const code = document.getElementById(button.dataset.copies)
  if (code === null || navigator.clipboard === undefined) continue
  button.hidden = false
  button.addEventListener('click', async () => {
    button.textContent = await copied(code.textContent)
    setTimeout(() => {
      button.textContent = 'Copy'
    }, SHOWN_MS)
  })
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text)
    return 'Copied'
  } catch {
    return 'Select it'
  }
}
