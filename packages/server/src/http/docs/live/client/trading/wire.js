// The parts of the stream's messages that the page uses. `/asyncapi.json` describes them in full.

/**
 * @typedef {object} Message
 * @property {string} [type]
 * @property {string | null} [request_id]
 * @property {string} [sub_id]
 * @property {string} [error_code]
 * @property {string} [message]
 * @property {string} [broker]
 * @property {readonly string[]} [sub_ids]
 */

/**
 * @typedef {Message & { o: string, h: string, l: string, c: string, v: string, ts: string, st: 'c' | 'o' }} Bar
 * @typedef {Message & { p: string, s: string, n: string, ts: string }} Trade
 * @typedef {Message & { bp: string | null, bs: string | null, ap: string | null, as: string | null, ts: string }} Quote
 * @typedef {Message & { b: readonly Level[], a: readonly Level[] }} Depth
 * @typedef {readonly [price: string, size: string, orders: string, venue: string, ts: string]} Level
 * @typedef {Message & { data: readonly Bar[] }} Snapshot
 */

/**
 * @typedef {object} Leg
 * @property {string} sym
 * @property {string} strike_price
 * @property {'Put' | 'Call'} option_type
 */

/**
 * @typedef {Message & {
 *   bid: string | null, ask: string | null, last: string | null, volume: string | null,
 *   iv?: string | null, delta?: string | null,
 *   side: 'Put' | 'Call' | 'Both', legs: readonly Leg[]
 * }} Contract
 */

export {}
