import type { Why } from '@trunkline/core/app/connect/enter-keys'
import type { PortalOutcomeReason } from '@trunkline/core/app/connect/portal-outcome'
import type { ConnectionType } from '@trunkline/core/domain/vocabulary'
import type { BrokerDefinition, BrokerLogin } from '@trunkline/core/ports/broker'

/** The page at the end of a visit: what happened, what it means, what to do. `{app}` is the application they came from. */
export interface OutcomeMessage {
  /** HTTP status of the page. */
  readonly status: number
  readonly tone: 'good' | 'calm' | 'bad'
  readonly heading: string
  readonly text: string
  readonly next: string
}

export const OUTCOME_MESSAGES: { readonly [reason in PortalOutcomeReason]: OutcomeMessage } = {
  connected: {
    status: 200,
    tone: 'good',
    heading: 'Your account is connected',
    text: 'Your broker confirmed it, and the connection is ready.',
    next: 'You can close this page and go back to {app}.'
  },
  declined: {
    status: 200,
    tone: 'calm',
    heading: 'Nothing was connected',
    text: 'You declined the request, so no one was given access to your account.',
    next: 'If you change your mind, start again from {app}.'
  },
  keys_refused: {
    status: 400,
    tone: 'bad',
    heading: 'Your broker did not accept the keys',
    text: 'The keys were tried several times, and the broker does not know them. Nothing was connected, and nothing of what you entered was kept.',
    next: 'Make new keys at your broker, then ask for a new link in {app}.'
  },
  expired: {
    status: 400,
    tone: 'calm',
    heading: 'This link has expired',
    text: 'For your safety, a connection link works for half an hour. Nothing was connected.',
    next: 'Ask for a new link in {app}.'
  },
  used: {
    status: 400,
    tone: 'calm',
    heading: 'This link was used already',
    text: 'A connection link works only once.',
    next: 'If you wanted to connect another account, ask for a new link in {app}.'
  },
  other_browser: {
    status: 400,
    tone: 'bad',
    heading: 'This link belongs to another browser',
    text: 'The connection was begun in another browser, or this one does not keep cookies. Nothing was connected here.',
    next: 'Go on in the browser where you began, or ask for a new link in {app}.'
  },
  unknown_link: {
    status: 400,
    tone: 'bad',
    heading: 'This link is not valid',
    text: 'Perhaps it was cut off when it was copied, or it is very old. Nothing was connected.',
    next: 'Ask for a new link in {app}.'
  },
  bad_callback: {
    status: 400,
    tone: 'bad',
    heading: 'This login is not the current one',
    text: 'Perhaps you began it again in another tab, it was completed already, or it took too long. For your safety nothing was connected from this page.',
    next: 'Go on in the other tab if you have one open. Otherwise start again from {app}.'
  },
  foreign_form: {
    status: 403,
    tone: 'bad',
    heading: 'That did not come from this page',
    text: 'Another site tried to answer the request for you. For your safety nothing was done with it.',
    next: 'Open the link again from {app}, and decide there.'
  },
  broker_down: {
    status: 502,
    tone: 'bad',
    heading: 'Your broker did not answer',
    text: 'The broker could not complete the login just now. Nothing was connected.',
    next: 'Please try again in a few minutes, with a new link from {app}.'
  },
  other_login: {
    status: 400,
    tone: 'bad',
    heading: 'That was another login',
    text: 'You logged in at your broker with a login that does not reach all accounts of this connection. Nothing was changed.',
    next: 'Ask for a new link in {app}, and use the login with which you connected.'
  },
  not_renewable: {
    status: 400,
    tone: 'bad',
    heading: 'This connection cannot be renewed',
    text: 'It was removed meanwhile, or your broker is used in another way now. Nothing was changed.',
    next: 'Connect again from {app}.'
  }
}

/** At the portal's address without a link. */
export const NO_LINK: OutcomeMessage = {
  status: 404,
  tone: 'calm',
  heading: 'Open your connection link',
  text: 'This is where you connect a brokerage account to an application. Every connection begins with a link of its own, and this address has none.',
  next: 'Ask for a link in {app}, and open it in this browser.'
}

export const INTERNAL_ERROR: OutcomeMessage = {
  status: 500,
  tone: 'bad',
  heading: 'Something went wrong here',
  text: 'The fault is ours. It is not certain how far the connection came.',
  next: 'Please wait a minute, then open your link again, or ask for a new one in {app}.'
}

/** Whether a path segment names an outcome. */
export function isReason(reason: string): reason is PortalOutcomeReason {
  return Object.hasOwn(OUTCOME_MESSAGES, reason)
}

/** What a connection lets a platform do, and what it does not. */
interface Permissions {
  readonly may: readonly string[]
  readonly mayNot: readonly string[]
}

const SEE = 'See your accounts, balances, positions, orders and past transactions'
const TRADE = 'Place, change and cancel orders for you'
const MARKET = 'Receive your broker’s market data'
const MOVE_MONEY = 'Withdraw or transfer money'

export const PERMISSIONS: { readonly [type in ConnectionType]: Permissions } = {
  readonly: { may: [SEE], mayNot: [TRADE, MOVE_MONEY] },
  trade: { may: [SEE, TRADE], mayNot: [MOVE_MONEY] },
  market_data: { may: [MARKET, SEE], mayNot: [TRADE, MOVE_MONEY] }
}

/** The label of a broker whose orders do not trade real money. */
export const MARKS: { readonly [environment in BrokerDefinition['environment']]: string | null } = {
  sandbox: 'sandbox',
  paper: 'paper',
  live: null
}

/** The step after the user's approval, at a `{broker}` with that login. A broker knows the application that is registered with it, which is ours. */
export const NEXT: { readonly [login in BrokerLogin['kind']]: string } = {
  oauth: 'Next, you log in on {broker}’s own page, which may name Trunkline: the service that makes the connection.',
  api_key: 'Next, you enter a key that you have made at {broker}.'
}

/** The page's footer about secrets. */
export const ASSURANCES: { readonly [login in BrokerLogin['kind']]: string } = {
  oauth: 'Your broker password is only ever typed on your broker’s own page.',
  api_key: 'Never type your broker password here: only keys, which are encrypted at once and shown to no one.'
}

/** Where no broker is chosen yet, neither login is. */
export const ASSURANCE = 'You decide what is connected, and can end it at any time.'

export const CHOOSE = 'Choose your broker to go on.'

/** Why keys have to be entered again, where no field shows it. */
export function complaint(why: Why, broker: string): string | null {
  switch (why.kind) {
    case 'entry': {
      const general = why.complaints.filter(({ field }) => field === null)
      return general.length === 0 ? null : general.map(({ message }) => withPeriod(message)).join(' ')
    }
    case 'refused':
      return `${broker} does not know these keys. Copy each again, whole, and see that both belong to the same account.`
    case 'unreachable':
      return `${broker} did not answer just now. Nothing was connected; please try again in a moment.`
  }
}

export function withPeriod(text: string): string {
  return text.endsWith('.') ? text : `${text}.`
}

/** How often keys may still be entered; null before the first time. */
export function triesLeftText(left: number, max: number): string | null {
  if (left >= max) return null
  return left === 1 ? 'One more try with this link.' : `${left} more tries with this link.`
}
