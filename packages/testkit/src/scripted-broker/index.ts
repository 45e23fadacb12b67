// A broker in memory with scripted behaviour: it loses, delays and repeats answers, and always keeps a correct ledger.
import type { BrokerDefinition, CredentialsHolder } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import { ScriptedSession } from './session.ts'
import { ScriptedState } from './state.ts'

export { ScriptedMarket, type ScriptedTopic } from './market.ts'
export type { OrderLedger } from './order-ledger.ts'
export type { CommandKind, CommandPlan, Delivery, PreviewAnswer, ReadKind, ReadPlan } from './plans.ts'
export { SCRIPTED_CAPABILITIES, type SentCommand } from './state.ts'

export class ScriptedBroker extends ScriptedState {
  get definition(): BrokerDefinition {
    return this.definitionDatedBy(() => this.dates)
  }

  /** For one of several callers, whose answers are dated by `dates`. */
  definitionDatedBy(dates: () => Pick<Clock, 'now'>): BrokerDefinition {
    return {
      capabilities: this.capabilities,
      environment: 'sandbox',
      host: 'local',
      login: {
        kind: 'oauth',
        origin: 'https://scripted.example',
        begin: async () => ({ authorizationUrl: 'https://scripted.example/', verifier: '' }),
        complete: async () => ({}),
        revoke: async credentials => this.revoke(credentials)
      },
      open: (credentials: CredentialsHolder) => {
        this.sessions += 1
        return new ScriptedSession(this, credentials, dates)
      }
    }
  }
}
