// Trading in the practice account of the demo platform.
import { openPractice } from './practice.js'
import { AccountView } from './trading/account-view.js'
import { waitMs } from './trading/backoff.js'
import { byId, onFrame } from './trading/elements.js'

/** @import { FollowedPractice } from './practice.js' */
/** @import { Fill } from './trading/fills.js' */

const ABSENT =
  'Orders can be placed here with the demo platform only: open the link that npm start printed (home_url in demo-platform.json), then open this page again.'
/** How often it is looked whether the copy is live: nothing says so when updates stop. */
const LOOK_MS = 1_000

export class Trading {
  #status = byId('trading-status', HTMLElement)
  #parts = byId('trading-parts', HTMLElement)
  /** @type {FollowedPractice | null} */ #practice = null
  #looking = 0
  #isAbsent = false
  /** What went wrong last; shown until something goes right. */
  #failure = ''
  #draw = onFrame(() => this.#drawn())
  /** Ends what was opened. */
  #over = new AbortController()
  /** @type {AccountView} */ #view

  /** @param {(fills: readonly Fill[]) => void} showFills marks fills on the chart */
  constructor(showFills) {
    this.#view = new AccountView({
      name: 'trunkline',
      prefix: 'live',
      changed: () => this.#draw(),
      // To open it again with other credentials.
      refused: practice => practice === this.#practice && this.#over.abort(),
      showFills
    })
  }

  /** The symbol of the chart is the ticket's. */
  set symbol(symbol) {
    this.#view.symbol = symbol
  }

  get symbol() {
    return this.#view.symbol
  }

  /** Keeps the account as long as the page is open. Ends where there is no practice account. */
  async run() {
    this.#looking = setInterval(() => this.#draw(), LOOK_MS)
    for (let failures = 0; ; failures += 1) {
      try {
        const practice = await openPractice({ onRetry: ({ error }) => this.#view.lost(error) })
        if (practice === null) return this.#absent()
        this.#over = new AbortController()
        this.#practice = practice
        this.#view.begin(practice)
        for await (const change of practice.copy.run(this.#over.signal)) {
          failures = 0
          this.#failure = ''
          if (change.type === 'orders') this.#view.seen(change.data)
          this.#draw()
        }
      } catch (error) {
        this.#failure = error instanceof Error ? error.message : String(error)
        this.#draw()
      }
      this.#practice = null
      this.#view.end()
      await new Promise(resolve => setTimeout(resolve, waitMs(failures, Math.random())))
    }
  }

  #absent() {
    clearInterval(this.#looking)
    this.#practice = null
    this.#isAbsent = true
    this.#parts.hidden = true
    this.#status.textContent = ABSENT
  }

  #drawn() {
    const practice = this.#practice
    if (this.#isAbsent) return
    if (practice === null) {
      report(this.#status, this.#failure === '' ? 'Connecting' : `Not connected: ${this.#failure} Trying again.`)
      return
    }
    const { orders, positions, balances, isLive, interruption, seq } = practice.copy
    this.#view.show({ orders: orders.values(), positions, balances })
    const failure = this.#failure || interruption || (seq === null ? 'reading the records' : '')
    if (isLive) report(this.#status, 'Live: practice money, in the sandbox')
    else if (seq === null) report(this.#status, 'Connecting')
    else report(this.#status, `Not current${failure === '' ? '' : `: ${failure}`}. Connecting again.`)
  }
}

/**
 * @param {HTMLElement} element
 * @param {string} text
 */
function report(element, text) {
  if (element.textContent !== text) element.textContent = text
}
