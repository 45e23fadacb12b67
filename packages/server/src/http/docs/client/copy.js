import { element } from './element.js'

const SHOWN_MS = 2_000

/** A button on every piece of code, if the browser lets pages copy. */
export function addCopyButtons() {
  if (navigator.clipboard === undefined) return
  for (const code of document.querySelectorAll('main pre')) {
    const frame = element('div', { class: 'copied' })
    code.replaceWith(frame)
    frame.append(code, buttonFor(code))
  }
}

/** @param {Element} code */
function buttonFor(code) {
  const button = element('button', { type: 'button', class: 'copy' }, 'Copy')
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(code.textContent ?? '')
      button.textContent = 'Copied'
    } catch {
      button.textContent = 'Select it'
    }
    setTimeout(() => {
      button.textContent = 'Copy'
    }, SHOWN_MS)
  })
  return button
}
