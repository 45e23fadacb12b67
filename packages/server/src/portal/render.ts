import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { EndingReason } from '@trunkline/core/app/connect/ending'
import type { KeyForm, TryAgain } from '@trunkline/core/app/connect/enter-keys'
import type { Invitation } from '@trunkline/core/app/connect/visit'
import { epochMs, type Timestamp } from '@trunkline/core/domain/timestamp'
import type { BrokerDefinition } from '@trunkline/core/ports/broker'
import { Eta } from 'eta'
import { logoLetter } from './logo.ts'
import { complaint, ENDINGS, MARKS, nextStep, PERMISSIONS, TROUBLE } from './words.ts'

const eta = new Eta({ views: fileURLToPath(new URL('./pages', import.meta.url)), cache: true, autoEscape: true })

export const STYLESHEET = readFileSync(new URL('./portal.css', import.meta.url), 'utf8')

/** The page that says who asks for what. `action` is where its one form goes. */
export function invitationPage({ attempt, platform, user, brokers }: Invitation, now: Timestamp, action: string): string {
  const isRenewal = attempt.renewConnectionId !== null
  return eta.render('./invitation', {
    title: isRenewal ? 'Renew your connection' : `Connect to ${platform.name}`,
    isRenewal,
    platform: platform.name,
    user: user.userId,
    brokers: brokers.map(shownBroker),
    ...PERMISSIONS[attempt.connectionType],
    next: nextStep(new Set(brokers.map(({ login }) => login.kind))),
    action,
    minutesLeft: minutesUntil(attempt.expiresAt, now)
  })
}

/** The page on which keys are entered at `action`; what was entered before is never on it. */
export function keysPage({ invitation, definition, login }: KeyForm, now: Timestamp, action: string, why?: TryAgain['why']): string {
  const { platform, attempt } = invitation
  const broker = shownBroker(definition)
  return eta.render('./keys', {
    title: `Enter your ${broker.name} keys`,
    platform: platform.name,
    broker,
    fields: login.fields,
    helpUrl: login.helpUrl,
    alert: why === undefined ? null : complaint(why, broker.name),
    action,
    back: action.slice(0, action.indexOf('/keys/')),
    minutesLeft: minutesUntil(attempt.expiresAt, now)
  })
}

/** Leads on to `target` by itself. Unlike a redirect it is no part of the form before it, whose page may then forbid every other address. */
export function onwardPage(reason: EndingReason, target: string): string {
  const { heading, tone } = ENDINGS[reason]
  return eta.render('./onward', { title: heading, heading, tone, target })
}

/** The page on which a visit ends. */
export function endingPage(reason: EndingReason): string {
  const words = ENDINGS[reason]
  return eta.render('./ending', { title: words.heading, ...words })
}

/** The page for what nobody foresaw. */
export function troublePage(): string {
  return eta.render('./ending', { title: TROUBLE.heading, ...TROUBLE })
}

function shownBroker({ capabilities: { id, name, logoColor }, environment }: BrokerDefinition) {
  return { id, name, logoColor, mark: MARKS[environment], ...logoLetter(name, logoColor) }
}

/** Readers are in every time zone, so they are told how long, never until when. */
function minutesUntil(end: Timestamp, now: Timestamp): string {
  const minutes = Math.max(1, Math.floor((epochMs(end) - epochMs(now)) / 60_000))
  return minutes === 1 ? 'another minute' : `another ${minutes} minutes`
}
