// How the TypeScript client does each operation of the API. A test compiles all of them against the client.

/** What the examples begin with. */
export const TYPESCRIPT_START = `import { Trunkline } from '@trunkline/client'

const trunkline = new Trunkline({ baseUrl, clientId, clientSecret })
const ada = trunkline.user({ userId: 'ada', userSecret })`

const TICKET = `{
  account_id,
  broker: 'SANDBOX',
  side: 'BUY',
  order_type: 'LMT',
  order_tif: 'DAY',
  symbol: 'AAPL',
  order_qty: '10',
  order_limit_price: '187.50'`

/** By operation. Records that were read before are named like their fields: `account_id`. */
export const TYPESCRIPT: Readonly<Record<string, string>> = {
  createUser: `const { 'user-secret': userSecret } = await trunkline.users.create({ user_id: 'ada' })`,
  listUsers: `for await (const user of trunkline.users.list()) console.log(user.user_id)`,
  deleteUser: `await trunkline.users.delete({ user_id: 'ada' })`,
  rotateUserSecret: `const { 'user-secret': userSecret } = await trunkline.users.rotateSecret({ user_id: 'ada' })`,
  createConnection: `const { authorization_url } = await ada.connections.create({
  connection_type: 'trade',
  broker: 'SANDBOX',
  redirect_url: 'https://app.example.com/linked'
})`,
  claimConnection: `const connection = await ada.connections.claim({ connection_id, claim_code })`,
  listConnections: `const connections = await ada.connections.list({ status: 'ACTIVE' })`,
  listPlatformConnections: `for await (const connection of trunkline.platformConnections()) console.log(connection.connection_id)`,
  deleteConnection: `await ada.connections.delete({ connection_id })`,
  issueMarketDataToken: `const { access_token } = await ada.connections.marketDataToken({ connection_id })`,
  listAccounts: `const accounts = await ada.accounts.list()`,
  listBalances: `const balances = await ada.balances.list()`,
  listPositions: `const positions = await ada.positions.list({ symbols: 'AAPL' })`,
  listTransactions: `for await (const transaction of ada.transactions.list({ account_id })) console.log(transaction.type)`,
  placeOrder: `const order = await ada.orders.place(${TICKET},
  cl_order_id: 'rebalance-2026-11-21-1'
})`,
  previewOrder: `const { outcome, estimated_cost } = await ada.orders.preview(${TICKET}
})`,
  listOrders: `for await (const order of ada.orders.list({ status: 'filled' })) console.log(order.cl_order_id)`,
  readOrder: `const order = await ada.orders.read({ order_id })`,
  readOrderOfAccount: `const order = await ada.orders.read({ order_id })`,
  modifyOrder: `const successor = await ada.orders.modify({
  account_id,
  order_id,
  broker: 'SANDBOX',
  order_limit_price: '187.75'
})`,
  cancelOrder: `const order = await ada.orders.cancel({ account_id, order_id })`,
  cancelOrders: `const { results } = await ada.orders.cancelAll({ account_id })`,
  listEvents: `for await (const event of trunkline.events({ user_id: 'ada', after: 41 })) console.log(event.seq, event.type)`,
  createWebhookEndpoint: `const { endpoint_id, secret } = await trunkline.webhookEndpoints.create({
  url: 'https://hooks.example.com/trunkline',
  topics: ['orders']
})`,
  listWebhookEndpoints: `const endpoints = await trunkline.webhookEndpoints.list()`,
  readWebhookEndpoint: `const { lag } = await trunkline.webhookEndpoints.read({ endpoint_id })`,
  changeWebhookEndpoint: `await trunkline.webhookEndpoints.change({ endpoint_id, enabled: true })`,
  deleteWebhookEndpoint: `await trunkline.webhookEndpoints.delete({ endpoint_id })`,
  rotateWebhookKeys: `const { secret } = await trunkline.webhookEndpoints.rotateKeys({ endpoint_id, overlap_hours: 24 })`,
  testWebhookEndpoint: `const { status, failure } = await trunkline.webhookEndpoints.test({ endpoint_id })`,
  listWebhookDeliveries: `const failed = trunkline.webhookEndpoints.deliveries({ endpoint_id, outcome: 'failed' })
for await (const { message_id, failure } of failed) console.log(message_id, failure)`,
  readWebhookDelivery: `const { request_body } = await trunkline.webhookEndpoints.delivery({ endpoint_id, delivery_id })`,
  replayWebhooks: `await trunkline.webhookEndpoints.replay({ endpoint_id, user_id: 'ada', from_seq: 1, to_seq: 100 })`,
  listBrokers: `const brokers = await trunkline.brokers()`,
  searchSymbols: `const symbols = await ada.marketData.symbols({ connection_id, search: 'apple' })`,
  readExpirations: `const dates = await ada.marketData.expirations({ connection_id, symbol: 'AAPL' })`,
  readChain: `const chain = await ada.marketData.chain({ connection_id, symbol: 'AAPL', expiration: '2028-01-21' })`,
  readQuote: `const quote = await ada.marketData.quote({ connection_id, symbol: 'AAPL' })`,
  readBars: `const bars = ada.marketData.bars({
  connection_id,
  symbol: 'AAPL',
  interval: '1m',
  start: '2026-11-20T14:30:00Z',
  end: '2026-11-20T21:00:00Z'
})
for await (const bar of bars) console.log(bar.start, bar.close)`
}
