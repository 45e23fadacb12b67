import type { Why } from '@trunkline/core/app/connect/enter-keys'
import type { PortalOutcomeReason } from '@trunkline/core/app/connect/portal-outcome'
import type { ConnectionType } from '@trunkline/core/domain/vocabulary'
import type { BrokerDefinition, BrokerLogin } from '@trunkline/core/ports/broker'

/**
 * The last page of a visit: what happened, what it means, and what to do next. `{app}` stands for the application that the user came from.
 */
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
    text: 'Your broker confirmed the login, and the connection is ready.',
    next: 'You can close this page and go back to {app}.'
  },
  declined: {
    status: 200,
    tone: 'calm',
    heading: 'Nothing was connected',
    text: 'You declined the request, so nobody received access to your account.',
    next: 'If you change your mind, start again from {app}.'
  },
  keys_refused: {
    status: 400,
    tone: 'bad',
    heading: 'Your broker did not accept the keys',
    text: 'You tried several times, and the broker did not accept the keys. Nothing was connected, and nothing that you entered was stored.',
    next: 'Create new keys at your broker, then request a new link in {app}.'
  },
  expired: {
    status: 400,
    tone: 'calm',
    heading: 'This link has expired',
    text: 'For your safety, a connection link is valid for half an hour. Nothing was connected.',
    next: 'Request a new link in {app}.'
  },
  used: {
    status: 400,
    tone: 'calm',
    heading: 'This link was already used',
    text: 'A connection link works only once.',
    next: 'To connect another account, request a new link in {app}.'
  },
  other_browser: {
    status: 400,
    tone: 'bad',
    heading: 'This link belongs to another browser',
    text: 'You started in another browser, or this browser does not accept cookies. Nothing was connected here.',
    next: 'Continue in the browser where you started, or request a new link in {app}.'
  },
  unknown_link: {
    status: 400,
    tone: 'bad',
    heading: 'This link is not valid',
    text: 'It may have been copied incompletely, or it may be very old. Nothing was connected.',
    next: 'Request a new link in {app}.'
  },
  bad_callback: {
    status: 400,
    tone: 'bad',
    heading: 'This login is not the current one',
    text: 'You may have started again in another tab, this login may already be complete, or it took too long. For your safety, nothing was connected from this page.',
    next: 'Continue in the other tab if you have one open. Otherwise start again from {app}.'
  },
  foreign_form: {
    status: 403,
    tone: 'bad',
    heading: 'This request did not come from our page',
    text: 'Another site tried to answer for you. For your safety, the answer was ignored.',
    next: 'Open the link again from {app}, and decide there.'
  },
  broker_down: {
    status: 502,
    tone: 'bad',
    heading: 'Your broker did not answer',
    text: 'The broker could not complete the login at the moment. Nothing was connected.',
    next: 'Please try again in a few minutes, with a new link from {app}.'
  },
  other_login: {
    status: 400,
    tone: 'bad',
    heading: 'You used a different login',
    text: 'The login that you used at your broker does not have access to all accounts of this connection. Nothing was changed.',
    next: 'Request a new link in {app}, and use the login with which you connected.'
  },
  not_renewable: {
    status: 400,
    tone: 'bad',
    heading: 'This connection cannot be renewed',
    text: 'It was removed in the meantime, or the way to connect to your broker has changed. Nothing was changed.',
    next: 'Connect again from {app}.'
  },
  user_removed: {
    status: 400,
    tone: 'bad',
    heading: 'Your access was removed meanwhile',
    text: 'While you logged in at your broker, the application removed you from its users. Nothing was connected, and nobody received access to your account.',
    next: 'If you did not expect this, ask {app}.'
  }
}

/** Shown at `/connect` without a link. */
export const NO_LINK: OutcomeMessage = {
  status: 404,
  tone: 'calm',
  heading: 'Open your connection link',
  text: 'Here you connect a brokerage account to an application. Every connection starts with its own link, and this address does not contain one.',
  next: 'Request a link in {app}, and open it in this browser.'
}

export const INTERNAL_ERROR: OutcomeMessage = {
  status: 500,
  tone: 'bad',
  heading: 'Something went wrong here',
  text: 'This is an error on our side. We cannot say how far the connection got.',
  next: 'Please wait a minute, then open your link again, or request a new one in {app}.'
}

/** Whether a path segment names an outcome. */
export function isReason(reason: string): reason is PortalOutcomeReason {
  return Object.hasOwn(OUTCOME_MESSAGES, reason)
}

/** What a connection allows a platform to do, and what it does not allow. */
interface Permissions {
  readonly may: readonly string[]
  readonly mayNot: readonly string[]
}

const SEE = 'See your accounts, balances, positions, orders and past transactions'
const TRADE = 'Place, modify and cancel orders for you'
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

/** What follows the user's approval, by the kind of login. The broker's page names the application registered there, which is Trunkline. */
export const NEXT: { readonly [login in BrokerLogin['kind']]: string } = {
  oauth: 'Next, you log in on {broker}’s own page. It may name Trunkline, the service that makes the connection.',
  api_key: 'Next, you enter keys that you created at {broker}.'
}

/** The page's footer about secrets. */
export const ASSURANCES: { readonly [login in BrokerLogin['kind']]: string } = {
  oauth: 'Enter your broker password only on your broker’s own page.',
  api_key: 'Never enter your broker password here. Enter only keys; they are encrypted at once and never shown again.'
}

/** The footer while no broker is chosen, and so the kind of login is not known. */
export const ASSURANCE = 'You decide what is connected, and you can end the connection at any time.'

export const CHOOSE = 'Choose your broker to continue.'

/** Why the keys must be entered again. Null if messages beside the fields say it. */
export function complaint(why: Why, broker: string): string | null {
  switch (why.kind) {
    case 'entry': {
      const general = why.complaints.filter(({ field }) => field === null)
      return general.length === 0 ? null : general.map(({ message }) => withPeriod(message)).join(' ')
    }
    case 'refused':
      return `${broker} did not accept these keys. Copy each one again completely, and check that both belong to the same account.`
    case 'unreachable':
      return `${broker} did not respond. Nothing was connected; please try again in a moment.`
  }
}

export function withPeriod(text: string): string {
  return text.endsWith('.') ? text : `${text}.`
}

/** How many attempts are left; null before the first one. */
export function triesLeftText(left: number, max: number): string | null {
  if (left >= max) return null
  return left === 1 ? 'You have one more attempt with this link.' : `You have ${left} more attempts with this link.`
}
