import type { EndingReason } from '@trunkline/core/app/connect/ending'
import type { TryAgain } from '@trunkline/core/app/connect/enter-keys'
import type { ConnectionType } from '@trunkline/core/domain/vocabulary'
import type { BrokerDefinition, BrokerLogin } from '@trunkline/core/ports/broker'

/** What a person reads at the end of a visit: what happened, what it means, what to do. */
export interface EndingWords {
  /** HTTP status of the page. */
  readonly status: number
  readonly tone: 'good' | 'calm' | 'bad'
  readonly heading: string
  readonly text: string
  readonly next: string
}

export const ENDINGS: { readonly [reason in EndingReason]: EndingWords } = {
  connected: {
    status: 200,
    tone: 'good',
    heading: 'Your account is connected',
    text: 'The login at your broker worked, and the connection is ready.',
    next: 'You can close this page and go back to the application you came from.'
  },
  declined: {
    status: 200,
    tone: 'calm',
    heading: 'Nothing was connected',
    text: 'You declined the request, so no one was given access to your account.',
    next: 'If you change your mind, start again from the application you came from.'
  },
  keys_refused: {
    status: 400,
    tone: 'bad',
    heading: 'Your broker did not accept the keys',
    text: 'The keys were tried several times, and the broker does not know them. Nothing was connected, and nothing of what you entered was kept.',
    next: 'Make new keys at your broker, then ask for a new link in the application you came from.'
  },
  expired: {
    status: 400,
    tone: 'calm',
    heading: 'This link has expired',
    text: 'For your safety a connection link works only for half an hour. Nothing was connected.',
    next: 'Ask for a new link in the application you came from.'
  },
  used: {
    status: 400,
    tone: 'calm',
    heading: 'This link was used already',
    text: 'A connection link works only once, and this one has come to its end.',
    next: 'If you wanted to connect another account, ask for a new link in the application you came from.'
  },
  other_browser: {
    status: 400,
    tone: 'bad',
    heading: 'This link belongs to another browser',
    text: 'The connection was begun in another browser, or this one does not keep cookies. Nothing was connected here.',
    next: 'Go on in the browser where you began, or ask for a new link in the application you came from.'
  },
  unknown_link: {
    status: 400,
    tone: 'bad',
    heading: 'This link is not valid',
    text: 'Perhaps it was cut off when it was copied, or it is very old. Nothing was connected.',
    next: 'Ask for a new link in the application you came from.'
  },
  bad_callback: {
    status: 400,
    tone: 'bad',
    heading: 'That answer did not fit',
    text: 'What came back from the broker does not belong to a login begun here. For your safety nothing was connected.',
    next: 'Start again from the application you came from.'
  },
  foreign_form: {
    status: 403,
    tone: 'bad',
    heading: 'That did not come from this page',
    text: 'Another site tried to answer the request for you. For your safety nothing was done with it.',
    next: 'Open the link again from the application you came from, and decide there.'
  },
  broker_down: {
    status: 502,
    tone: 'bad',
    heading: 'Your broker did not answer',
    text: 'The broker could not complete the login just now. Nothing was connected.',
    next: 'Please try again in a few minutes, with a new link from the application you came from.'
  },
  other_login: {
    status: 400,
    tone: 'bad',
    heading: 'That was another login',
    text: 'You logged in at your broker with a login that does not reach all accounts of this connection. Nothing was changed.',
    next: 'Ask for a new link in the application you came from, and use the login with which you connected.'
  },
  not_renewable: {
    status: 400,
    tone: 'bad',
    heading: 'This connection cannot be renewed',
    text: 'It was removed meanwhile, or your broker is used in another way now. Nothing was changed.',
    next: 'Connect again from the application you came from.'
  }
}

export const TROUBLE: EndingWords = {
  status: 500,
  tone: 'bad',
  heading: 'Something went wrong here',
  text: 'The fault is ours. It is not certain how far the connection came.',
  next: 'Please wait a minute, then open your link again, or ask for a new one in the application you came from.'
}

/** Whether a word of an address names an ending. */
export function isReason(word: string): word is EndingReason {
  return Object.hasOwn(ENDINGS, word)
}

/** What a connection lets a platform do, and what it does not. */
interface Permissions {
  readonly may: readonly string[]
  readonly mayNot: readonly string[]
}

const SEE = 'See your accounts, balances, positions and past transactions'
const TRADE = 'Place, change and cancel orders for you'
const MARKET = 'Receive your broker’s market data'
const MOVE_MONEY = 'Withdraw or transfer money'

export const PERMISSIONS: { readonly [type in ConnectionType]: Permissions } = {
  readonly: { may: [SEE], mayNot: [TRADE, MOVE_MONEY] },
  trade: { may: [SEE, TRADE], mayNot: [MOVE_MONEY] },
  market_data: { may: [MARKET, SEE], mayNot: [TRADE, MOVE_MONEY] }
}

/** What a broker's card says where orders do not trade real money. */
export const MARKS: { readonly [environment in BrokerDefinition['environment']]: string | null } = {
  sandbox: 'sandbox',
  paper: 'paper',
  live: null
}

/** What comes after the invitation, for a choice of brokers with these logins. */
export function nextStep(logins: ReadonlySet<BrokerLogin['kind']>): string {
  if (!logins.has('api_key')) return 'You log in at your broker next.'
  return logins.has('oauth')
    ? 'You log in at your broker, or enter a key of yours for it, next.'
    : 'You enter a key of yours for your broker next.'
}

/** Why keys have to be entered again. */
export function complaint(why: TryAgain['why'], broker: string): string {
  switch (why.kind) {
    case 'entry':
      return why.message.endsWith('.') ? why.message : `${why.message}.`
    case 'refused':
      return `${broker} does not know these keys. Copy each again, whole, and see that both belong to the same account.`
    case 'unreachable':
      return `${broker} did not answer just now. Nothing was connected; please try again in a moment.`
  }
}
