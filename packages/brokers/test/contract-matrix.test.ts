// The page of the contracts is up to date with the cases and the brokers, and every broker's cases are run by its own test.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ADAPTERS } from '../src/registry.ts'
import { contractMatrix, MATRIX } from './contract-matrix.ts'

test('the page is fresh', () => {
  assert.equal(readFileSync(MATRIX, 'utf8'), contractMatrix(), 'run: node packages/brokers/test/contract-matrix.ts')
})

test('every broker of the registry is under both contracts', () => {
  for (const { capabilities } of ADAPTERS) {
    const folder = new URL(`./${capabilities.id.toLowerCase()}/`, import.meta.url)
    const runs = (what: string) =>
      ['contract.waiting.test.ts', 'market/contract.waiting.test.ts'].some(name => {
        const file = new URL(name, folder)
        return existsSync(file) && readFileSync(file, 'utf8').includes(`${what}(`)
      })
    assert.ok(runs('brokerContract'), `${capabilities.id} has no test that runs brokerContract`)
    assert.ok(
      capabilities.marketData.channels.length === 0 || runs('marketContract'),
      `${capabilities.id} has no test that runs marketContract`
    )
  }
})
