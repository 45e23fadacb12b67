// Shows the state of the connection: a status word, and a notice over the chart if the user must know or do something.
import { byId } from './trading/elements.js'

/** @typedef {'idle' | 'busy' | 'live' | 'warning' | 'error'} Tone */

/**
 * @typedef {object} Notice
 * @property {string} title
 * @property {string} [text]
 * @property {string} [button] label of a button
 * @property {() => void} [pressed]
 * @property {boolean} [token] whether to ask for a token
 * @property {boolean} [isAside] whether the chart stays readable beside the notice
 */

export class Notices {
  #state = byId('state', HTMLElement)
  #status = byId('state-word', HTMLElement)
  #box = byId('notice', HTMLElement)
  #title = byId('notice-title', HTMLElement)
  #text = byId('notice-text', HTMLElement)
  #button = byId('notice-button', HTMLButtonElement)
  #form = byId('token-form', HTMLFormElement)
  /** @type {(() => void) | undefined} */ #pressed

  constructor() {
    this.#button.addEventListener('click', () => this.#pressed?.())
  }

  /**
   * @param {Tone} tone
   * @param {string} status
   */
  state(tone, status) {
    this.#state.dataset.tone = tone
    if (this.#status.textContent !== status) this.#status.textContent = status
  }

  /** @param {Notice | null} notice null hides it */
  show(notice) {
    this.#box.hidden = notice === null
    if (notice === null) return
    const { title, text = '', button = '', pressed, token = false, isAside = false } = notice
    this.#box.classList.toggle('aside', isAside)
    this.#title.textContent = title
    this.#text.textContent = text
    this.#text.hidden = text === ''
    this.#button.textContent = button
    this.#button.hidden = button === ''
    this.#pressed = pressed
    this.#form.hidden = !token
  }
}

/**
 * The documentation of a close code or an error code; empty for an unknown one.
 * @param {number | string | undefined} code
 */
export function referenceOf(code) {
  const template = byId('reference', HTMLTemplateElement)
  for (const entry of template.content.querySelectorAll('p')) {
    if (entry.dataset.code === String(code)) return { meaning: entry.dataset.meaning ?? '', remedy: entry.dataset.remedy ?? '' }
  }
  return { meaning: '', remedy: '' }
}
