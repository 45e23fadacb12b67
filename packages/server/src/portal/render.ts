import { fileURLToPath } from 'node:url'
import { KEY_TRIES_MAX, type KeyForm, type Why } from '@trunkline/core/app/connect/enter-keys'
import type { PortalOutcomeReason } from '@trunkline/core/app/connect/portal-outcome'
import type { Invitation } from '@trunkline/core/app/connect/visit'
import type { Platform, PlatformBrand } from '@trunkline/core/domain/account'
import { epochMs, type Timestamp } from '@trunkline/core/domain/timestamp'
import type { BrokerDefinition } from '@trunkline/core/ports/broker'
import { Eta } from 'eta'
import { type AppView, appView } from './app-view.ts'
import type { StoredOutcome } from './cookies.ts'
import { markOf } from './logo.ts'
import {
  ASSURANCE,
  ASSURANCES,
  CHOOSE,
  complaint,
  INTERNAL_ERROR,
  MARKS,
  NEXT,
  NO_LINK,
  OUTCOME_MESSAGES,
  type OutcomeMessage,
  PERMISSIONS,
  triesLeftText,
  withPeriod
} from './messages.ts'
import type { Notice } from './notice.ts'
import { type Opener, writtenOpener } from './opener.ts'
import { isSearched } from './search.ts'

const eta = new Eta({ views: fileURLToPath(new URL('./pages', import.meta.url)), cache: true, autoEscape: true })

/** How long the last page waits to be closed by the page that it sent the outcome to. */
const OPENER_SECONDS = 3

/** What every step's page needs. */
export interface StepState {
  readonly now: Timestamp
  /** Path of the link's first page. */
  readonly link: string
  /** What was wrong with the form that was submitted from this page. */
  readonly notice: Notice | null
}

/** Where a user can go when the visit has ended. */
export interface WayBack {
  /** The application that the browser came from; null if unknown. */
  readonly app: AppView | null
  /** The service's start page, offered if the application is unknown and there is a demo platform. */
  readonly home: string | null
}

/** The first step, if there are several brokers to choose from. */
export function brokersPage(
  { attempt, platform, brand, user, brokers }: Invitation,
  search: string,
  { now, link, notice }: StepState
): string {
  const found = brokers.filter(broker => isSearched(broker.capabilities, search))
  return eta.render('./brokers', {
    title: titled('Choose your broker', notice),
    app: appView(platform, brand),
    user: user.userId,
    step: 'Step 1 of 3',
    brokers: found.map(shownBroker),
    ...{ search, total: brokers.length, action: link },
    alert: notice === null ? null : CHOOSE,
    promise: ASSURANCE,
    minutesLeft: minutesUntil(attempt.expiresAt, now)
  })
}

/** The step on which the user approves or declines. Its form is submitted to `action`. */
export function permissionsPage(
  { attempt, platform, brand, user, brokers }: Invitation,
  broker: BrokerDefinition | null,
  { now, link }: StepState,
  action: string
): string {
  const isRenewal = attempt.renewConnectionId !== null
  const login = broker?.login.kind ?? 'oauth'
  const [beforeBroker = '', afterBroker = ''] = NEXT[login].split('{broker}')
  return eta.render('./permissions', {
    title: isRenewal ? 'Renew your connection' : `Connect to ${platform.name}`,
    isRenewal,
    app: appView(platform, brand),
    user: user.userId,
    step: brokers.length > 1 ? 'Step 2 of 3' : 'Step 1 of 2',
    broker: broker === null ? null : shownBroker(broker),
    ...PERMISSIONS[attempt.connectionType],
    ...{ next: [beforeBroker, afterBroker], promise: ASSURANCES[login], action },
    back: brokers.length > 1 ? link : null,
    minutesLeft: minutesUntil(attempt.expiresAt, now)
  })
}

/**
 * The page on which the user enters keys. It never contains what was entered before. Its form is submitted to `action`; `back` is the
 * previous step.
 */
export function keysPage(
  { invitation, definition, login, triesLeft }: KeyForm,
  { now, notice }: StepState,
  { action, back }: { readonly action: string; readonly back: string }
): string {
  const { platform, brand, user, attempt, brokers } = invitation
  const broker = shownBroker(definition)
  const why = notice === null || notice.kind === 'choose' ? null : notice
  return eta.render('./keys', {
    title: titled(`Enter your ${broker.name} keys`, why),
    app: appView(platform, brand),
    user: user.userId,
    step: brokers.length > 1 ? 'Step 3 of 3' : 'Step 2 of 2',
    broker,
    fields: login.fields.map(field => ({ ...field, ...faultOf(why, field.name) })),
    helpUrl: login.helpUrl,
    alert: why === null ? null : complaint(why, broker.name),
    tries: triesLeftText(triesLeft, KEY_TRIES_MAX),
    ...{ action, back, promise: ASSURANCES.api_key },
    minutesLeft: minutesUntil(attempt.expiresAt, now)
  })
}

/** The message beside a field, and whether the field is marked as faulty. A complaint that names no field marks all of them. */
function faultOf(why: Why | null, name: string): { readonly isFaulty: boolean; readonly message: string | null } {
  if (why === null || why.kind === 'unreachable') return { isFaulty: false, message: null }
  if (why.kind === 'refused') return { isFaulty: true, message: null }
  const own = why.complaints.find(({ field }) => field === name)
  const isFaulty = own !== undefined || why.complaints.some(({ field }) => field === null)
  return { isFaulty, message: own === undefined ? null : withPeriod(own.message) }
}

/**
 * A page that redirects to `target` by itself. Unlike an HTTP redirect, it is not subject to the `form-action` of the page before it. For
 * an opener it first sends what the redirect shows, and waits a little: the page that gets it closes the window.
 */
export function redirectPage({ reason, target, opener }: StoredOutcome, app: AppView | null): string {
  const { heading, tone } = OUTCOME_MESSAGES[reason]
  const script = opener === null ? null : { src: '/connect/assets/outcome.js', data: outcomeData(reason, target, opener) }
  const wait = opener === null ? 0 : OPENER_SECONDS
  return eta.render('./redirect', { title: heading, heading, tone, target, app, promise: null, script, wait })
}

/** The script sends `message` to pages of the origin `to` and to no others. Our own frame passes it on. */
function outcomeData(reason: PortalOutcomeReason, target: string, { mode, nonce }: Opener): Readonly<Record<string, string>> {
  const url = new URL(target)
  const names = reason === 'connected' ? ['connection_id', 'claim_code'] : ['error', 'error_details']
  const result = Object.fromEntries(names.flatMap(name => [...url.searchParams].filter(([key]) => key === name)))
  const message = JSON.stringify({ type: 'trunkline.connect', event: 'outcome', nonce, result })
  return { to: mode === 'popup' ? url.origin : '', message, target }
}

/** The page that a platform shows in a frame: it decides nothing, and opens the link in a window of its own. */
export function framePage(platform: Platform, brand: PlatformBrand, { link, nonce, origin }: FrameTarget): string {
  const app = appView(platform, brand)
  const script = {
    src: '/connect/assets/frame.js',
    data: { to: origin, nonce, link: `${link}?connect=${writtenOpener({ mode: 'frame', nonce })}` }
  }
  return eta.render('./frame', { title: `Connect to ${platform.name}`, app, promise: ASSURANCE, script })
}

export interface FrameTarget {
  readonly link: string
  readonly nonce: string
  /** Of the platform's page. */
  readonly origin: string
}

/** The page on which a visit ends. `retryPath`: where the user may continue with the same link. */
export function outcomePage(reason: PortalOutcomeReason, { app, home }: WayBack, retryPath: string | null = null): string {
  return outcomeHtml(OUTCOME_MESSAGES[reason], { app, home }, retryPath)
}

/** The page at `/connect`, which needs a link. */
export function noLinkPage(back: WayBack): string {
  return outcomeHtml(NO_LINK, back, null)
}

/** The page for an unexpected error. */
export function errorPage(retryPath: string | null): string {
  return outcomeHtml(INTERNAL_ERROR, { app: null, home: null }, retryPath)
}

function outcomeHtml(message: OutcomeMessage, back: WayBack, retryPath: string | null): string {
  return eta.render('./outcome', {
    title: message.heading,
    ...message,
    next: message.next.split('{app}'),
    ...back,
    retryPath,
    promise: null
  })
}

/** Screen readers read the title first, so it also says that the form was not accepted. */
function titled(title: string, notice: Notice | null): string {
  return notice === null ? title : `Not yet: ${title}`
}

function shownBroker({ capabilities: { id, name, logoColor, logoInitials }, environment }: BrokerDefinition) {
  return { id, name, environment: MARKS[environment], mark: markOf(id, logoInitials, logoColor) }
}

/** The time left, not a time of day: users are in every time zone. */
function minutesUntil(end: Timestamp, now: Timestamp): string {
  const minutes = Math.max(1, Math.floor((epochMs(end) - epochMs(now)) / 60_000))
  return minutes === 1 ? 'another minute' : `another ${minutes} minutes`
}
