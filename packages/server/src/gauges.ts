/** The gauges of the metrics page that are read from the running parts. */

import type { AppDeps } from '@trunkline/core/app/application'
import { HEALTH_STATES } from '@trunkline/core/domain/account'
import { DROP_REASONS } from './bus/drop-reasons.ts'
import type { NatsBus } from './bus/nats-bus.ts'
import type { ClusterNode } from './cluster/node.ts'
import type { PromMeter } from './ops/metrics.ts'
import type { Readiness } from './ops/readiness.ts'
import type { AccountStream } from './stream/account/index.ts'
import type { StreamGateway } from './stream/gateway.ts'
import type { MarketStream } from './stream/market/index.ts'
import type { WebhookSender } from './webhooks/sender.ts'

export function watchApplication(meter: PromMeter, app: AppDeps, readiness: Readiness): void {
  meter.gauge('orders_unresolved', 'Orders looked up because their outcome, or that of a change, is unknown', () => app.resolver.watched)
  meter.gauges('mirrors', 'Mirrored connections, by health', 'health', HEALTH_STATES, state => app.mirrors.countOf(state))
  meter.gauge('broker_sessions', 'Open broker sessions', () => app.mirrors.sessions)
  meter.gauge('watched_users', 'Users whose connections are mirrored', () => app.watch.count)
  meter.gauge('event_loop_delay_seconds', '99th percentile of the event loop delay', () => readiness.loopDelaySeconds())
}

export function watchStream(meter: PromMeter, stream: AccountStream, gateway: StreamGateway): void {
  meter.gauge('stream_sockets', 'Open stream sockets', () => gateway.sockets)
  meter.gauge('stream_sessions', 'Authenticated sessions of the broker stream', () => stream.authenticated)
  meter.gauge('stream_users', 'Users with at least one subscriber', () => stream.hub.users)
  meter.gauge('stream_waiting_bytes', 'Bytes buffered for stalled readers', () => gateway.waitingBytes)
  meter.total('stream_deliveries_total', 'Updates sent to sessions', () => stream.hub.deliveries)
}

export function watchNode(meter: PromMeter, node: ClusterNode): void {
  meter.gauge('owned_partitions', 'Partitions of users that this node owns, of 256', () => node.owned)
  meter.gauge('cluster_nodes', 'Nodes of the cluster, as this one sees it', () => node.members)
}

export function watchBus(meter: PromMeter, bus: NatsBus): void {
  meter.gauge('bus_connected', 'Whether this node is connected to NATS', () => (bus.isConnected ? 1 : 0))
  meter.total('bus_reconnects_total', 'Connections to NATS after the first', () => bus.reconnects)
  const help = 'Messages between nodes that were not sent or, if malformed, not delivered here, by reason'
  meter.totals('bus_dropped_total', help, 'reason', DROP_REASONS, reason => bus.dropped(reason))
}

export function watchMarket(meter: PromMeter, app: AppDeps, market: MarketStream): void {
  meter.gauge('market_sessions', 'Authenticated sessions of the market data stream', () => market.authenticated)
  meter.gauge('market_subscriptions', 'Subscriptions of all market data sessions', () => market.subscriptions)
  meter.gauge('market_connections', 'Connections with open market data', () => app.markets.count)
  meter.gauge('market_topics', 'Topics that brokers stream, each shared by its subscribers', () => app.markets.topics)
}

/** Periods rather than endpoints: their number is not bounded. */
const PERIODS = ['minute', 'hour', 'day'] as const
const PERIOD_SECONDS = { minute: 60, hour: 3_600, day: 86_400 }

export function watchWebhooks(meter: PromMeter, sender: Pick<WebhookSender, 'waiting' | 'attempts' | 'lags'>): void {
  meter.gauge('webhook_users_waiting', 'Users whose events wait for an endpoint, counted for each endpoint', () => sender.waiting)
  meter.gauge('webhook_oldest_seconds', 'Age of the oldest update that waits for an endpoint, over all endpoints', () =>
    Math.max(0, ...sender.lags())
  )
  const help = 'Endpoints for which an update has waited for longer than this'
  const behind = (period: (typeof PERIODS)[number]) => sender.lags().filter(age => age > PERIOD_SECONDS[period]).length
  meter.gauges('webhook_endpoints_behind', help, 'longer_than', PERIODS, behind)
  meter.gauge('webhook_attempts_open', 'Attempts to deliver webhooks that are on their way', () => sender.attempts)
}
