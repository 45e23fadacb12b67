// The client's resources that are tables: their methods, and the operation of each.
// `!` after a method: its request is not sent again after a lost answer. Why is in the comments of `packages/client/src/resources.ts`.

/** By the name of the constant: the beginning that all paths share, and the operations by method. */
export const RESOURCES: Readonly<Record<string, readonly [base: string, methods: Readonly<Record<string, string>>]>> = {
  USERS: ['/users', { create: 'createUser', list: 'listUsers', delete: 'deleteUser', 'rotateSecret!': 'rotateUserSecret' }],
  CONNECTIONS: [
    '/connections',
    {
      create: 'createConnection',
      list: 'listConnections',
      claim: 'claimConnection',
      delete: 'deleteConnection',
      marketDataToken: 'issueMarketDataToken'
    }
  ],
  MARKET_DATA: [
    '/connections/{connection_id}/market-data',
    { symbols: 'searchSymbols', expirations: 'readExpirations', chain: 'readChain', quote: 'readQuote', bars: 'readBars' }
  ],
  WEBHOOK_ENDPOINTS: [
    '/webhook-endpoints',
    {
      'create!': 'createWebhookEndpoint',
      list: 'listWebhookEndpoints',
      read: 'readWebhookEndpoint',
      change: 'changeWebhookEndpoint',
      delete: 'deleteWebhookEndpoint',
      'rotateKeys!': 'rotateWebhookKeys',
      'test!': 'testWebhookEndpoint',
      deliveries: 'listWebhookDeliveries',
      delivery: 'readWebhookDelivery',
      'replay!': 'replayWebhooks'
    }
  ]
}
