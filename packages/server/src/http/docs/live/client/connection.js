// Keeps a WebSocket open: reconnects as long as the token is accepted.
import { waitMs } from './trading/backoff.js'

/** @import { Message } from './trading/wire.js' */

/** Close codes after which reconnecting in the same way would fail again. */
const FINAL_CODES = new Set([1009, 4001, 4003, 4029])
const PATH = '/market-data/stream'

/**
 * @typedef {object} Hooks
 * @property {() => void} connecting
 * @property {(message: Message) => void} ready authenticated; subscriptions must be made again
 * @property {(message: Message) => void} refused the token was refused
 * @property {(code: number, reason: string, waitMs: number | null) => void} closed `waitMs` is null if it does not reconnect
 * @property {(message: Message) => void} update
 * @property {(message: Message) => void} errored an error that is not a reply
 * @property {(text: string) => void} sent
 * @property {(text: string) => void} received
 */

export class Connection {
  /** @type {Hooks} */ #hooks
  /** @type {WebSocket | null} */ #socket = null
  #token = ''
  #failures = 0
  #requests = 0
  #timer = 0
  /** @type {Map<string, (reply: Message) => void>} */ #waiting = new Map()

  /** @param {Hooks} hooks */
  constructor(hooks) {
    this.#hooks = hooks
  }

  /** Connects with this token and replaces the previous connection. @param {string} token */
  open(token) {
    this.close()
    this.#token = token
    this.#failures = 0
    this.#connect()
  }

  /** Reconnects now instead of waiting. */
  retry() {
    clearTimeout(this.#timer)
    if (this.#socket === null && this.#token !== '') this.#connect()
  }

  /** Closes the connection without calling the hooks. */
  close() {
    clearTimeout(this.#timer)
    this.#token = ''
    const socket = this.#socket
    this.#forget()
    socket?.close()
  }

  /**
   * Sends a request. `answered` is called with the reply, success or error; it is not called if the connection breaks.
   * @param {Readonly<Record<string, unknown>>} fields
   * @param {(reply: Message) => void} answered
   */
  request(fields, answered) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return
    const requestId = String(++this.#requests)
    this.#waiting.set(requestId, answered)
    const text = JSON.stringify({ ...fields, request_id: requestId })
    this.#socket.send(text)
    this.#hooks.sent(text.replace(this.#token, 'mdt_…'))
  }

  #connect() {
    this.#hooks.connecting()
    const address = new URL(PATH, location.href)
    address.protocol = address.protocol.replace('http', 'ws')
    const socket = new WebSocket(address)
    this.#socket = socket
    socket.onopen = () => this.#authenticate()
    socket.onmessage = ({ data }) => socket === this.#socket && this.#take(String(data))
    socket.onclose = ({ code, reason }) => socket === this.#socket && this.#closed(code, reason)
  }

  #authenticate() {
    this.request({ action: 'authenticate', access_token: this.#token }, reply => {
      if (reply.type === 'auth_success') {
        this.#failures = 0
        this.#hooks.ready(reply)
        return
      }
      this.close()
      this.#hooks.refused(reply)
    })
  }

  /** @param {string} text */
  #take(text) {
    this.#hooks.received(text)
    /** @type {Message} */
    const message = JSON.parse(text)
    const answered = typeof message.request_id === 'string' ? this.#waiting.get(message.request_id) : undefined
    if (answered !== undefined && typeof message.request_id === 'string') {
      this.#waiting.delete(message.request_id)
      answered(message)
    } else if (message.type === 'error') this.#hooks.errored(message)
    else if (message.sub_id !== undefined) this.#hooks.update(message)
  }

  /**
   * @param {number} code
   * @param {string} reason
   */
  #closed(code, reason) {
    this.#forget()
    const wait = FINAL_CODES.has(code) ? null : waitMs(++this.#failures, Math.random())
    if (wait !== null) this.#timer = setTimeout(() => this.#connect(), wait)
    this.#hooks.closed(code, reason, wait)
  }

  #forget() {
    this.#socket = null
    this.#waiting.clear()
  }
}
