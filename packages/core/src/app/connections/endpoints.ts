import type { BrokerEndpoint } from '../../domain/account.ts'
import type { BrokerDefinition } from '../../ports/broker.ts'

/** Where the service goes now when it goes to the broker. */
export function endpointOf({ environment, host }: Pick<BrokerDefinition, 'environment' | 'host'>): BrokerEndpoint {
  return { environment, host }
}

export function isSameEndpoint(a: BrokerEndpoint, b: BrokerEndpoint): boolean {
  return a.environment === b.environment && a.host === b.host
}

/** Credentials that would go where they were not made: nothing was sent. */
export class EndpointChanged extends Error {
  override readonly name = 'EndpointChanged'

  constructor(was: BrokerEndpoint | null, is: BrokerEndpoint) {
    super(changedMessage(was, is))
  }
}

/** What a platform and its operator read of it. */
export function changedMessage(was: BrokerEndpoint | null, is: BrokerEndpoint): string {
  const made = was === null ? 'before environments were recorded' : `in the ${shown(was)}`
  return `The login was made ${made}, and the service now uses the ${shown(is)}. Nothing was sent there. It works again when the service goes back; until then, have the user connect again.`
}

function shown({ environment, host }: BrokerEndpoint): string {
  return `${environment} environment (${host})`
}
