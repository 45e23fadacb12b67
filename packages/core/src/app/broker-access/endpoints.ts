import type { BrokerEndpoint } from '../../domain/account.ts'
import type { BrokerDefinition } from '../../ports/broker.ts'

/** The endpoint that the service now uses for the broker. */
export function endpointOf({ environment, host }: Pick<BrokerDefinition, 'environment' | 'host'>): BrokerEndpoint {
  return { environment, host }
}

export function isSameEndpoint(a: BrokerEndpoint, b: BrokerEndpoint): boolean {
  return a.environment === b.environment && a.host === b.host
}

/** Credentials that would be sent to another endpoint than their own. Nothing was sent. */
export class EndpointChanged extends Error {
  override readonly name = 'EndpointChanged'

  constructor(was: BrokerEndpoint | null, is: BrokerEndpoint) {
    super(changedMessage(was, is))
  }
}

/** The message for platforms and operators. */
export function changedMessage(was: BrokerEndpoint | null, is: BrokerEndpoint): string {
  const made = was === null ? 'before environments were recorded' : `in the ${shown(was)}`
  return `The login was made ${made}, and the service now uses the ${shown(is)}. Nothing was sent there. It works again when the service goes back; until then, have the user connect again.`
}

function shown({ environment, host }: BrokerEndpoint): string {
  return `${environment} environment (${host})`
}
