import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { selfSigned } from '@trunkline/testkit/certificate'
import { NatsServer } from '@trunkline/testkit/nats/index'
import { until } from '@trunkline/testkit/until'
import { natsBus, startNode } from './stage.ts'

test('a server with TLS is connected to with its authority only, and TLS that is demanded is not done without', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'nats-tls-'))
  try {
    const { cert, key } = selfSigned(30, undefined, ['localhost'])
    const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
    writeFileSync(certFile, cert)
    writeFileSync(keyFile, key)
    await using secure = await NatsServer.start(['--tls', '--tlscert', certFile, '--tlskey', keyFile])
    await using plain = await NatsServer.start()
    await using node = await startNode({ url: `tls://localhost:${secure.port}` }, { caFile: certFile })
    assert.ok(node.bus.isConnected)
    for (const [url, caFile] of [
      [`tls://localhost:${secure.port}`, null],
      [`tls://localhost:${plain.port}`, null],
      [`nats://localhost:${plain.port}`, certFile]
    ] as const) {
      const warnings: string[] = []
      const log = { debug() {}, info() {}, warn: (message: string) => void warnings.push(message), error() {} }
      await using refused = natsBus({ url }, { caFile }, { log })
      refused.start()
      await until(() => warnings.length > 0, 'the failure was logged')
      assert.equal(refused.isConnected, false)
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})
