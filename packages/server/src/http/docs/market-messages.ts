// The market data stream's messages for the documentation: each with its replies and an example.
import * as wire from '../../wire/market.ts'
import { type Announcement, type Message, message, type Request } from './described.ts'
import * as example from './market-examples.ts'

const authSuccess = message(wire.marketAuthSuccess, example.authSuccess)
const subscribed = message(wire.marketSubscribed, example.subscribed)
const subscriptions = message(wire.marketSubscriptions, example.subscriptions)
const unsubscribed = message(wire.marketUnsubscribed, example.unsubscribed)
const snapshotResponse = message(wire.marketSnapshotResponse, example.snapshotResponse)
const error = message(wire.marketError, example.error)
const bar = message(wire.barUpdate, example.bar, 'bars')
const trade = message(wire.tradeUpdate, example.trade, 'trades')
const quote = message(wire.quoteUpdate, example.quote, 'quotes')
const depth = message(wire.depthUpdate, example.depth)
const contract = message(wire.chainUpdate, example.contract, 'options_chain')

const authenticate: Request = {
  ...message(wire.marketAuthenticate, example.authenticate),
  rules: `Until it has succeeded, every other message is answered with \`not_authenticated\`. After a failure you may try again within the time
to authenticate. A second \`authenticate\` after a success is answered with \`auth_error\` and changes nothing. The first use of a token ends
the user’s sessions that use another token or come from another address.`,
  replies: [authSuccess, error]
}
const subscribe: Request = {
  ...message(wire.marketSubscribe, example.subscribe),
  rules: `Each \`subscribe\` creates a separate subscription with the next \`sub_id\`, even if it is for the same data as another. Parameters
that the channel does not use are ignored, and so is \`session\` for anything but shares. \`backfill_nbars\` requests that many closed bars.
They come first, ascending, and join the live ones without a gap or a repeat. \`GET /brokers\` shows how many bars each broker gives at most,
and what it can stream.`,
  replies: [subscribed, error]
}
const list: Request = {
  ...message(wire.marketList, example.list),
  rules: 'Lists the subscriptions of the session at that moment, in the order of their `sub_id`.',
  replies: [subscriptions, error]
}
const unsubscribe: Request = {
  ...message(wire.marketUnsubscribe, example.unsubscribe),
  rules: 'After the reply, no more updates with that `sub_id` follow. The session never reuses a `sub_id`.',
  replies: [unsubscribed, error]
}
const snapshot: Request = {
  ...message(wire.marketSnapshot, example.snapshot),
  rules: `Returns the bars of the session \`BrokerDefault\` that start at or after \`start_time\` and before \`end_time\`, ascending. The last one
may be open. Intervals without a trade have no bar. A window that could hold more bars than the limit is refused: split it.`,
  replies: [snapshotResponse, error]
}

export const MARKET_REQUESTS: readonly Request[] = [authenticate, subscribe, list, unsubscribe, snapshot]

export const MARKET_ANNOUNCEMENTS: readonly Announcement[] = [
  {
    id: 'bars',
    summary: 'Carries a bar.',
    rules: `An open bar is sent when it changes, at most four times a second; a slow reader receives only the newest. A closed bar is sent exactly
once to every reader. Intraday bars begin at the session’s open and are cut at its end, so \`4h\` gives two bars for a day from 09:30 to
16:00.`,
    messages: [bar]
  },
  {
    id: 'trades',
    summary: 'Carries a trade.',
    rules: 'Every trade since the subscription, in the broker’s order. None is left out.',
    messages: [trade]
  },
  {
    id: 'quotes',
    summary: 'Carries the best bid and ask.',
    rules: 'The current quote is sent at once, then every new one. A slow reader receives only the newest.',
    messages: [quote]
  },
  {
    id: 'depth',
    summary: 'Carries the order book.',
    rules: `Always the whole book down to \`n_levels\`, never a difference. There are fewer levels where the book has no more. A slow reader
receives only the newest.`,
    messages: [depth]
  },
  {
    id: 'options_chain',
    summary: 'Carries one contract of an options chain.',
    rules: `Every contract of the expiration is sent once at first, then again whenever it changes. A slow reader receives only the newest of each
contract. The update’s single leg identifies the contract.`,
    messages: [contract]
  },
  {
    id: 'error',
    summary: 'Reports a failed request, or a problem of the session.',
    rules: `An error whose \`request_id\` is null is not the reply to a request. With \`broker_unavailable\` it names the subscriptions for which the
broker sends nothing at present. They resume on their own, and missed bars are backfilled. After \`auth_error\` or \`connection_broken\` the
session is closed.`,
    messages: [error]
  }
]

/** The example session. */
export const MARKET_DIALOGUE: readonly Message[] = [authenticate, authSuccess, subscribe, subscribed, bar, trade, quote]
