import { byId, made, onFrame } from './trading/elements.js'

/** Applies separately to requests with replies and to updates, so that many updates do not push out the others. */
const LINES_MAX = 150
const CHARACTERS_MAX = 2_000

/** The messages as sent and received, newest last. */
export class MessageLog {
  #list = byId('log', HTMLElement)
  #pause = byId('log-pause', HTMLButtonElement)
  #updates = byId('log-updates', HTMLInputElement)
  #counted = byId('log-count', HTMLElement)
  /** @type {{ readonly kind: string, readonly text: string }[]} */ #waiting = []
  #count = 0
  #isPaused = false
  #draw = onFrame(() => this.#drawn())

  constructor() {
    this.#pause.addEventListener('click', () => {
      this.#isPaused = !this.#isPaused
      this.#pause.textContent = this.#isPaused ? 'Continue' : 'Pause'
      this.#draw()
    })
    byId('log-clear', HTMLButtonElement).addEventListener('click', () => {
      this.#waiting = []
      this.#list.replaceChildren()
    })
  }

  /**
   * @param {'sent' | 'received'} way
   * @param {string} text
   */
  put(way, text) {
    this.#count += 1
    const kind = way === 'sent' ? 'sent' : /"(?:request_id|error_code)":/.test(text) ? 'answer' : 'update'
    if (!this.#isPaused && (this.#updates.checked || kind !== 'update')) {
      this.#waiting.push({ kind, text: text.length > CHARACTERS_MAX ? `${text.slice(0, CHARACTERS_MAX)}…` : text })
      if (this.#waiting.length > 2 * LINES_MAX) this.#waiting.shift()
    }
    this.#draw()
  }

  #drawn() {
    this.#counted.textContent = `${this.#count.toLocaleString('en')} messages`
    if (this.#waiting.length === 0) return
    const isAtEnd = this.#list.scrollTop + this.#list.clientHeight >= this.#list.scrollHeight - 4
    this.#list.append(...this.#waiting.map(({ kind, text }) => made('li', `${kind === 'sent' ? '→' : '←'} ${text}`, kind)))
    this.#waiting = []
    for (const kind of ['.update', ':not(.update)']) {
      for (const line of [...this.#list.querySelectorAll(kind)].slice(0, -LINES_MAX)) line.remove()
    }
    if (isAtEnd) this.#list.scrollTop = this.#list.scrollHeight
  }
}
