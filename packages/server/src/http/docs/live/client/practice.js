// The practice account of the demo platform, through the TypeScript client: its orders by REST, and a copy that the broker stream keeps.
import { BrokerStream, eventsOf, LiveCopy, recordsOf } from './streams.js'
import { Trunkline } from './trunkline.js'

/** @import { Practice } from './trading/practice.js' */
/** @import { Hooks, TrunklineUser } from './trunkline.js' */

/** The service may have to make and connect the account first. */
const ANSWER_MS_MAX = 90_000

/** @typedef {Practice & { readonly copy: LiveCopy }} FollowedPractice */

/**
 * Opens the account. Null where there is no demo platform, or in a browser that was not opened by the link that the service printed.
 * @param {Hooks} hooks see every request
 * @returns {Promise<FollowedPractice | null>}
 * @throws TrunklineError; Error while the service cannot open it
 */
export async function openPractice(hooks) {
  const credentials = await practiceCredentials()
  if (credentials === null) return null
  const { client_id: clientId, client_secret: clientSecret, user_id: userId, user_secret: userSecret } = credentials
  const trunkline = new Trunkline({ baseUrl: location.origin, clientId, clientSecret, hooks })
  const user = trunkline.user({ userId, userSecret })
  const url = `${location.origin.replace(/^http/, 'ws')}/stream`
  const stream = new BrokerStream({ url, clientId, clientSecret, readEvents: eventsOf(trunkline) })
  const copy = new LiveCopy({ stream, userId, ...recordsOf(trunkline, userId, user) })
  return { orders: ordersOf(user), copy, accounts: await user.accounts.list(), putOrder: order => copy.putOrder(order) }
}

/**
 * @param {TrunklineUser} user
 * @returns {Practice['orders']}
 */
function ordersOf({ orders }) {
  return {
    preview: terms => orders.preview(terms),
    place: order => orders.place(order),
    cancel: order => orders.cancel(order),
    read: orderId => orders.read({ order_id: orderId }),
    find: async clOrderId => {
      const [found] = await orders.list({ cl_order_id: clOrderId }).toArray({ limit: 1 })
      return found ?? null
    }
  }
}

/**
 * Valid at this moment. They stay in this page's memory.
 * @returns {Promise<Readonly<Record<'client_id' | 'client_secret' | 'user_id' | 'user_secret', string>> | null>} null: there are none for
 * this browser
 * @throws Error if there are none now
 */
async function practiceCredentials() {
  const answer = await fetch('/demo-credentials', { method: 'POST', signal: AbortSignal.timeout(ANSWER_MS_MAX) })
  if (answer.status === 200) return answer.json()
  // 404: a service that has no demo platform.
  if (answer.status === 204 || answer.status === 404) return null
  throw new Error(`The service has no practice account at the moment (${answer.status}).`)
}
