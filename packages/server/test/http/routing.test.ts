import assert from 'node:assert/strict'
import { test } from 'node:test'
import Fastify from 'fastify'
import { KnownRoutes } from '../../src/http/routing.ts'

test('an address with other methods returns 405, an unknown address 404', async () => {
  const app = Fastify({ exposeHeadRoutes: false })
  const routes = new KnownRoutes()
  routes.watch(app)
  app.get('/orders', () => ({}))
  app.post('/orders', () => ({}))
  await app.register(
    async scope => {
      scope.delete('/accounts/:account_id/orders/:order_id', () => ({}))
      scope.get('/files.d/*', () => ({}))
    },
    { prefix: '/v1' }
  )
  await app.ready()
  const miss = (method: string, address: string) => {
    const { error, allow } = routes.miss(method, address)
    return [error.code, allow]
  }
  assert.deepEqual(miss('DELETE', '/orders?x=1'), ['method_not_allowed', 'GET, POST'])
  assert.deepEqual(miss('TRACE', '/v1/accounts/a/orders/b'), ['method_not_allowed', 'DELETE'])
  assert.deepEqual(miss('POST', '/v1/files.d/a/b'), ['method_not_allowed', 'GET'])
  for (const address of ['/order', '/orders/', '/v1/orders', '/v1/accounts/a/orders', '/v1/filesXd/a', '/ORDERS']) {
    assert.deepEqual(miss('GET', address), ['route_not_found', null])
  }
  await app.close()
})

test('a method that the resource accepts at a longer address is pointed there', async () => {
  const app = Fastify()
  const routes = new KnownRoutes()
  routes.watch(app)
  app.get('/orders/:order_id', () => ({}))
  app.delete('/accounts/:account_id/orders/:order_id', () => ({}))
  await app.ready()
  const message = (method: string) => routes.miss(method, '/orders/1').error.message
  assert.equal(
    message('DELETE'),
    'This address does not accept DELETE; use GET, HEAD. DELETE is accepted at /accounts/{account_id}/orders/{order_id}.'
  )
  assert.equal(message('PUT'), 'This address does not accept PUT; use GET, HEAD.')
  await app.close()
})
