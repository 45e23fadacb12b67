import type { AppDeps } from '@trunkline/core/app/application'
import type { BrowserSession, PortalDeps } from '@trunkline/core/app/connect/visit'
import type { BrokerId } from '@trunkline/core/domain/ids'
import type { FastifyRequest } from 'fastify'
import { addressGroup } from '../auth/address.ts'
import type { PortalCookies } from './cookies.ts'
import type { PortalOptions } from './options.ts'
import type { OutcomeResponder } from './outcomes.ts'

export type PagesDeps = PortalDeps & Pick<AppDeps, 'accessAudit'>

/** What all steps of the portal share. */
export interface PortalContext {
  readonly deps: PagesDeps
  readonly options: PortalOptions
  readonly cookies: PortalCookies
  readonly outcomes: OutcomeResponder
}

export function browserSessionOf({ cookies }: Pick<PortalContext, 'cookies'>, request: FastifyRequest): BrowserSession {
  return { browser: cookies.browser.read(request), ip: request.ip, requestId: request.id }
}

/** Writes an audit entry for a callback or form that belongs to no attempt. Anyone can send one. */
export function noteRefusal({ deps }: PortalContext, { ip, id }: FastifyRequest, broker: BrokerId | null, reason: string): void {
  const target = broker ?? 'unknown'
  const group = addressGroup(ip)
  deps.accessAudit.note({ action: 'connection.callback', actor: 'anonymous', target, reason, ip, group, requestId: id })
}

/** Identifies a form submission. It is a hash, because a form may contain broker keys. */
export function formId({ deps }: Pick<PortalContext, 'deps'>, ...parts: readonly unknown[]): string {
  return deps.hasher.hash(JSON.stringify(parts))
}
