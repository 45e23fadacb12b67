// The market data stream's messages as its descriptions show them: what answers what, and an example of each.
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
  rules: `Until it has succeeded, every other message is answered with \`not_authenticated\`. A failure leaves the session open for another try
within its time. A second \`authenticate\` after a success is answered with \`auth_error\` and changes nothing. The first use of a token ends the
user’s sessions that use another one, or that come from another address.`,
  replies: [authSuccess, error]
}
const subscribe: Request = {
  ...message(wire.marketSubscribe, example.subscribe),
  rules: `Each makes a subscription of its own with the next \`sub_id\`, also when it is for the same as another. A parameter that the channel does not
take is ignored, and so is \`session\` for anything but shares. \`backfill_nbars\` asks for that many closed bars, which come first, ascending, and join
the live ones without a gap or a repeat; how many a broker gives at most is in \`GET /brokers\`. What a broker can stream is there, too.`,
  replies: [subscribed, error]
}
const list: Request = {
  ...message(wire.marketList, example.list),
  rules: 'Lists what there is at that moment, in the order of the `sub_id`s.',
  replies: [subscriptions, error]
}
const unsubscribe: Request = {
  ...message(wire.marketUnsubscribe, example.unsubscribe),
  rules: 'After the answer nothing more comes with that `sub_id`, and no other subscription of the session ever gets it.',
  replies: [unsubscribed, error]
}
const snapshot: Request = {
  ...message(wire.marketSnapshot, example.snapshot),
  rules: `Gives the bars of the session \`BrokerDefault\` whose start is at \`start_time\` or later and before \`end_time\`, ascending; the last may be open.
Stretches without a trade have no bar. A window that could hold more bars than the limit is refused: ask for several.`,
  replies: [snapshotResponse, error]
}

export const MARKET_REQUESTS: readonly Request[] = [authenticate, subscribe, list, unsubscribe, snapshot]

export const MARKET_ANNOUNCEMENTS: readonly Announcement[] = [
  {
    id: 'bars',
    summary: 'Carries a bar.',
    rules: `An open bar comes when it changes, at most four times a second; a reader who takes less gets the newest only. A closed bar comes exactly once, to
every reader. Intraday bars begin at the session’s open and are cut at its end, so \`4h\` of a day from 09:30 to 16:00 is two bars.`,
    messages: [bar]
  },
  {
    id: 'trades',
    summary: 'Carries a trade.',
    rules: 'Every trade since the subscription, in the broker’s order; none is ever left out.',
    messages: [trade]
  },
  {
    id: 'quotes',
    summary: 'Carries the best bid and ask.',
    rules: 'The present quote comes at once, then every new one. A reader who takes less gets the newest only.',
    messages: [quote]
  },
  {
    id: 'depth',
    summary: 'Carries the order book.',
    rules: `Always the whole book down to \`n_levels\`, never a difference; fewer levels where the book has no more. A reader who takes less gets the newest
only.`,
    messages: [depth]
  },
  {
    id: 'options_chain',
    summary: 'Carries one contract of an options chain.',
    rules: `Every contract of the expiration comes once at first, then each when it changes. A reader who takes less gets the newest of each contract. Which
contract it is, is in its one leg.`,
    messages: [contract]
  },
  {
    id: 'error',
    summary: 'Reports what happened to the session.',
    rules: `An error whose \`request_id\` is null answers nothing you asked. With \`broker_unavailable\` it names subscriptions for which the broker gives
nothing at present: they go on by themselves, and bars that were missed are made up for. With \`auth_error\` or \`connection_broken\` the session is
closed afterwards.`,
    messages: [error]
  }
]

/** The session of the examples. */
export const MARKET_DIALOGUE: readonly Message[] = [authenticate, authSuccess, subscribe, subscribed, bar, trade, quote]
