import type { AppDeps } from '@trunkline/core/app/application'
import type { BrowserSession, PortalDeps } from '@trunkline/core/app/connect/visit'
import type { BrokerId } from '@trunkline/core/domain/ids'
import type { FastifyRequest } from 'fastify'
import { addressGroup } from '../auth/address.ts'
import type { PortalCookies } from './cookies.ts'
import type { PortalOptions } from './options.ts'
import type { OutcomeResponder } from './outcomes.ts'
import type { SharedSubmissions, Submission } from './shared-submissions.ts'

export type PagesDeps = PortalDeps & Pick<AppDeps, 'accessAudit'>

/** What all steps of the portal share. */
export interface PortalContext {
  readonly deps: PagesDeps
  readonly options: PortalOptions
  readonly cookies: PortalCookies
  readonly outcomes: OutcomeResponder
  /** Null where there is one node. */
  readonly submissions: SharedSubmissions | null
}

export function browserSessionOf({ cookies }: Pick<PortalContext, 'cookies'>, request: FastifyRequest): BrowserSession {
  return { browser: cookies.browser.read(request), ip: request.ip, requestId: request.id }
}

/** Names a link in a cookie. */
export function linkHash({ deps }: Pick<PortalContext, 'deps'>, token: string): string {
  return deps.hasher.hash(token).slice(0, 22)
}

/** Writes an audit entry for a callback or form that belongs to no attempt. Anyone can send one. */
export function noteRefusal({ deps }: PortalContext, { ip, id }: FastifyRequest, broker: BrokerId | null, reason: string): void {
  const target = broker ?? 'unknown'
  const group = addressGroup(ip)
  deps.accessAudit.note({ action: 'connection.callback', actor: 'anonymous', target, reason, ip, group, requestId: id })
}

/** A submission of this link. It is identified by a hash, because a form may contain broker keys. */
export function submissionOf({ deps }: Pick<PortalContext, 'deps'>, token: string, ...parts: readonly unknown[]): Submission {
  const isKnown = async () => (await deps.store.attempts.findByTokenHash(deps.hasher.hash(token))) !== null
  return { form: deps.hasher.hash(JSON.stringify([token, ...parts])), isKnown }
}

/** The return from a broker's login. `state`: null if the address has none that could be valid. */
export function returnOf({ deps }: Pick<PortalContext, 'deps'>, address: string, browser: string | null, state: string | null): Submission {
  const isKnown = async () =>
    browser !== null && state !== null && (await deps.store.attempts.findByStateHash(deps.hasher.hash(state))) !== null
  return { form: deps.hasher.hash(JSON.stringify([address, browser])), isKnown }
}
