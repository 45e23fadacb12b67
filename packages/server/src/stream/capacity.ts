// How many connections, sockets and sessions the process takes, from its settings and the limit of open files.
import type { Log } from '@trunkline/core/ports/log'
import type { Settings } from '../config/settings.ts'
import { connectionsWithin, openFilesMax } from '../ops/open-files.ts'
import { GATEWAY_LIMITS, type GatewayLimits } from './gateway.ts'
import type { SlotLimits } from './market/session-slots.ts'

/** Fewer than any deployment needs: the operator should raise the limit of open files. */
const CONNECTIONS_LOW = 1_000

/** TCP connections of the process: as many as are set, within the limit of open files. */
export function connectionsOf({ connectionsMax: wanted }: Settings, log: Log): number {
  const filesMax = openFilesMax()
  const connectionsMax = connectionsWithin(wanted, filesMax)
  const fields = { wanted, connectionsMax, filesMax }
  if (connectionsMax < Math.min(wanted, CONNECTIONS_LOW)) log.warn('few connections: the limit of open files is low', fields)
  else if (connectionsMax < wanted) log.info('fewer connections than set, by the limit of open files', fields)
  return connectionsMax
}

/** WebSockets take at most four fifths of the connections, those that have not authenticated an eighth of that. */
export function gatewayLimits(connectionsMax: number): Pick<GatewayLimits, 'socketsMax' | 'unauthenticated'> {
  const socketsMax = Math.floor(0.8 * connectionsMax)
  const { unauthenticated } = GATEWAY_LIMITS
  return { socketsMax, unauthenticated: { ...unauthenticated, total: Math.min(unauthenticated.total, Math.ceil(socketsMax / 8)) } }
}

/** How the slots of the market data stream are divided. */
export function slotsOf(settings: Settings, connectionsMax: number): SlotLimits {
  return {
    // The remaining sockets are for the broker stream and unauthenticated clients.
    total: Math.min(settings.marketSessionsMax, Math.floor(0.85 * gatewayLimits(connectionsMax).socketsMax)),
    perUser: settings.marketSessionsPerUser,
    perAddress: settings.marketSessionsPerAddress,
    platformPercent: settings.marketPlatformPercent
  }
}
