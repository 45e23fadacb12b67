// The page's view of the connection: a status word, and over the chart what has to be known or done.
import { byId } from './elements.js'

/** @typedef {'idle' | 'busy' | 'live' | 'warning' | 'error'} Tone */

/**
 * @typedef {object} Notice
 * @property {string} title
 * @property {string} [text]
 * @property {string} [button] what can be pressed
 * @property {() => void} [pressed]
 * @property {boolean} [token] whether a token is asked for
 * @property {boolean} [isAside] whether the chart is worth looking at meanwhile
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

  /** @param {Notice | null} notice null takes it away */
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
