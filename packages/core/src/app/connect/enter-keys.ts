import type { BrokerId } from '../../domain/ids.ts'
import {
  type ApiKeyBrokerLogin,
  type ApiKeyField,
  type BrokerDefinition,
  BrokerFault,
  type Credentials,
  LoginRefused
} from '../../ports/broker.ts'
import type { StaleForm } from './decide.ts'
import { establish } from './establish.ts'
import { ended, type PortalOutcome } from './portal-outcome.ts'
import { type BrowserSession, type Invitation, type PortalDeps, portalAudit, visitAttempt } from './visit.ts'

/** How often keys may be tried at the broker in one attempt. A user without the keys at hand starts again, and guessing is futile. */
export const KEY_TRIES_MAX = 5
const LOGIN_MS = 20_000
/** Printable ASCII. Keys consist of nothing else, and it is safe in a header. */
const TYPED = /^[\x20-\x7e]+$/

/** The form on which a user enters keys made at the broker. */
export interface KeyForm {
  readonly kind: 'key_form'
  readonly invitation: Invitation
  readonly definition: BrokerDefinition
  readonly login: ApiKeyBrokerLogin
  /** How many tries are left. */
  readonly triesLeft: number
}

/** The keys did not work, and the user may try again. */
export interface TryAgain {
  readonly kind: 'try_again'
  readonly form: KeyForm
  readonly why: Why
}

/** What is wrong with an entry: in one field if that is known, else in all of them. */
export interface Complaint {
  readonly field: string | null
  readonly message: string
}

/** `entry`: it cannot be a key, and each complaint says why; `refused`: the broker rejects it; `unreachable`: the broker did not answer. */
export type Why =
  | { readonly kind: 'entry'; readonly complaints: readonly Complaint[] }
  | { readonly kind: 'refused' }
  | { readonly kind: 'unreachable' }

/**
 * The form for a broker's keys, in the browser whose user approved. A stale form is for a broker without such a form, or for a user who has
 * not approved.
 */
export async function askForKeys(
  deps: PortalDeps,
  token: string,
  broker: BrokerId,
  browserSession: BrowserSession
): Promise<KeyForm | StaleForm | PortalOutcome> {
  const invitation = await visitAttempt(deps, token, browserSession)
  if (invitation.kind === 'outcome') return invitation
  const definition = invitation.brokers.find(({ capabilities }) => capabilities.id === broker)
  if (invitation.attempt.browserHash === null || definition?.login.kind !== 'api_key') return { kind: 'stale_form' }
  const triesLeft = KEY_TRIES_MAX - (await deps.store.attempts.tries(invitation.attempt.attemptId))
  return { kind: 'key_form', invitation, definition, login: definition.login, triesLeft }
}

export type EnteredKeys = TryAgain | StaleForm | PortalOutcome

/**
 * Handles the entered keys: reads the broker's accounts with them, and establishes the connection if that works. The entry never appears in
 * a response, log or message; it is stored only sealed, as the connection's credentials.
 */
export async function enterKeys(
  deps: PortalDeps,
  token: string,
  { broker, entered }: { readonly broker: BrokerId; readonly entered: Readonly<Record<string, unknown>> },
  browserSession: BrowserSession
): Promise<EnteredKeys> {
  const form = await askForKeys(deps, token, broker, browserSession)
  if (form.kind !== 'key_form') return form
  const entry = await credentialsOf(form, entered)
  if (entry.kind === 'entry') return { kind: 'try_again', form, why: entry }
  const { attempt } = form.invitation
  const tries = await deps.store.attempts.countTry(attempt.attemptId, KEY_TRIES_MAX)
  if (tries === null) return ended(attempt, 'used')
  try {
    return await establish(deps, attempt, form.definition, entry.credentials, browserSession)
  } catch (cause) {
    if (!(cause instanceof BrokerFault)) throw cause
    return keysNotTaken(deps, form, { fault: cause, tries, browserSession })
  }
}

interface KeysNotTaken {
  readonly fault: BrokerFault
  readonly tries: number
  readonly browserSession: BrowserSession
}

async function keysNotTaken(
  deps: PortalDeps,
  form: KeyForm,
  { fault, tries, browserSession }: KeysNotTaken
): Promise<TryAgain | PortalOutcome> {
  const { attempt } = form.invitation
  const broker = form.definition.capabilities.id
  const isRefused = fault.kind === 'credentials_rejected'
  if (!isRefused)
    deps.log.warn('a broker could not say whether keys are valid', { attemptId: attempt.attemptId, broker, kind: fault.kind, cause: fault })
  const detail = { broker, fault: fault.kind, tries }
  if (tries < KEY_TRIES_MAX) {
    await deps.store.audit.append(portalAudit(deps, attempt, browserSession, 'connection.keys', isRefused ? 'refused' : 'failed', detail))
    return { kind: 'try_again', form, why: { kind: isRefused ? 'refused' : 'unreachable' } }
  }
  await deps.store.attempts.end(
    attempt.attemptId,
    'failed',
    portalAudit(deps, attempt, browserSession, 'connection.fail', 'failed', detail)
  )
  return ended(attempt, isRefused ? 'keys_refused' : 'broker_down')
}

type Entry = { readonly kind: 'credentials'; readonly credentials: Credentials } | Extract<Why, { readonly kind: 'entry' }>

/** Checks every field before reporting, so that a user can correct all of them at once. */
async function credentialsOf({ login }: KeyForm, entered: Readonly<Record<string, unknown>>): Promise<Entry> {
  const values: Record<string, string> = {}
  const complaints: Complaint[] = []
  for (const field of login.fields) {
    const value = Object.hasOwn(entered, field.name) ? entered[field.name] : undefined
    const text = typeof value === 'string' ? value.trim() : ''
    const message = complaintAbout(field, text)
    if (message !== null) complaints.push({ field: field.name, message })
    values[field.name] = text
  }
  if (complaints.length > 0) return { kind: 'entry', complaints }
  try {
    return { kind: 'credentials', credentials: await login.complete(values, AbortSignal.timeout(LOGIN_MS)) }
  } catch (cause) {
    if (cause instanceof LoginRefused) return { kind: 'entry', complaints: [{ field: cause.field, message: cause.message }] }
    throw cause
  }
}

function complaintAbout({ label, lengthMax }: ApiKeyField, text: string): string | null {
  if (text === '') return `${label} is missing.`
  if (text.length > lengthMax) return `${label} has at most ${lengthMax} characters.`
  return TYPED.test(text) ? null : `${label} has only letters, digits and signs of a keyboard.`
}
