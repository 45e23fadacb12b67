import type { BrowserSession, PortalDeps } from '@trunkline/core/app/connect/visit'
import type { AppDeps } from '@trunkline/core/app/deps'
import type { BrokerId } from '@trunkline/core/domain/ids'
import type { FastifyRequest } from 'fastify'
import { addressGroup } from '../auth/address.ts'
import type { PortalCookies } from './cookies.ts'
import type { Failure } from './failures.ts'
import type { OutcomeResponder } from './outcomes.ts'

export interface PortalOptions {
  /** Origin under which browsers reach us. */
  readonly publicUrl: () => string
  /** `client_id` of the demo platform, whose application is our own first page; null where there is none. */
  readonly demo: () => string | null
  /** Maps a thrown value to its HTTP response. */
  readonly problemOf: (error: unknown) => Failure
}

export type PagesDeps = PortalDeps & Pick<AppDeps, 'accessAudit'>

/** What the steps of a visit share. */
export interface PortalContext {
  readonly deps: PagesDeps
  readonly options: PortalOptions
  readonly cookies: PortalCookies
  readonly outcomes: OutcomeResponder
}

export function browserSessionOf({ cookies }: Pick<PortalContext, 'cookies'>, request: FastifyRequest): BrowserSession {
  return { browser: cookies.browser.read(request), ip: request.ip, requestId: request.id }
}

/** It belongs to no attempt, and anyone can send one. */
export function noteRefusal({ deps }: PortalContext, { ip, id }: FastifyRequest, broker: BrokerId | null, reason: string): void {
  const target = broker ?? 'unknown'
  const group = addressGroup(ip)
  deps.accessAudit.note({ action: 'connection.callback', actor: 'anonymous', target, reason, ip, group, requestId: id })
}

/** Identifies a form submission, hashed because a form may hold keys. */
export function formId({ deps }: Pick<PortalContext, 'deps'>, ...parts: readonly unknown[]): string {
  return deps.hasher.hash(JSON.stringify(parts))
}
