// A broker with API key login. It accepts one pair of keys, and fails on demand.
import { parseBrokerId } from '@trunkline/core/domain/ids'
import {
  type BrokerAccount,
  type BrokerDefinition,
  BrokerFault,
  type BrokerFaultKind,
  type Credentials,
  type CredentialsHolder,
  type Listed,
  LoginRefused
} from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import { ScriptedBroker } from '@trunkline/testkit/scripted-broker/index'
import { withMethods } from '../with-methods.ts'

const KEYED = parseBrokerId('KEYED')
export const GOOD_KEYS = { key_id: 'PKGOODKEY0001', secret_key: 'canary-good-secret-9f8e7d' } as const
const ACCOUNT: BrokerAccount = {
  brokerAccountId: 'k-1',
  accountNumber: 'KEYED0001',
  institutionName: 'Keyed Trading',
  name: null,
  accountType: 'margin',
  currency: 'USD'
}

export class KeyedBroker {
  readonly definition: BrokerDefinition
  /** Credentials with which the accounts were requested. */
  readonly requested: Credentials[] = []
  /** Called instead of answering. */
  fault: BrokerFaultKind | null = null
  /** Awaited before each answer. */
  pause: () => Promise<void> = async () => undefined

  constructor(clock: Clock) {
    const capabilities = { id: KEYED, name: 'Keyed Trading', logoColor: '#0f766e', logoInitials: 'Ke', login: 'api_key' } as const
    const scripted = new ScriptedBroker(clock, capabilities).definition
    this.definition = {
      ...scripted,
      environment: 'paper',
      login: {
        kind: 'api_key',
        fields: [
          { name: 'key_id', label: 'API key', secret: false, lengthMax: 64 },
          { name: 'secret_key', label: 'Secret key', secret: true, lengthMax: 128 }
        ],
        helpUrl: 'https://keyed.example/keys?for=api&new',
        async complete({ key_id: id = '', secret_key: secret = '' }) {
          if (!id.startsWith('PK')) throw new LoginRefused('An API key of Keyed Trading begins with PK.', 'key_id')
          return { id, secret }
        },
        revoke: async () => undefined
      },
      open: holder => withMethods(scripted.open(holder), { accounts: signal => this.#accounts(holder, signal) })
    }
  }

  async #accounts(holder: CredentialsHolder, signal: AbortSignal): Promise<Listed<BrokerAccount>> {
    const credentials = await holder.read(signal)
    this.requested.push(credentials)
    await this.pause()
    if (this.fault !== null) throw new BrokerFault(this.fault, 'the keyed broker fails')
    if (credentials.id !== GOOD_KEYS.key_id || credentials.secret !== GOOD_KEYS.secret_key)
      throw new BrokerFault('credentials_rejected', 'the keyed broker does not know these keys')
    return { items: [ACCOUNT] }
  }
}
