// What users consent to is what the guide says a platform may do.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { test } from 'node:test'
import { CONNECTION_TYPES } from '@trunkline/core/domain/vocabulary'
import { PERMISSIONS } from '../../src/portal/messages.ts'

const GUIDE = readFileSync(resolve(import.meta.dirname, '..', '..', '..', '..', 'docs', 'guides', 'connect.md'), 'utf8')

test('every consent page names each kind of record that the guide grants', () => {
  const granted = /^\| `readonly` \| see (.+) \|$/m.exec(GUIDE)?.[1]?.split(/, | and /) ?? []
  assert.ok(granted.includes('orders') && granted.length === 5, granted.join())
  for (const type of CONNECTION_TYPES) {
    const see = PERMISSIONS[type].may.find(text => text.startsWith('See ')) ?? ''
    for (const kind of granted) assert.match(see, new RegExp(`\\b${kind}\\b`), type)
  }
})
