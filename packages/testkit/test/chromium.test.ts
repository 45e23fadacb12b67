// Finding a browser: by name, then along the PATH.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { chromiumArguments, findChromium } from '../src/chromium.ts'

test('the first chromium on the PATH is found, unless the environment names another', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-browsers-'))
  try {
    const [chrome, chromium, notRunnable] = ['google-chrome', 'chromium', 'other'].map(name => join(folder, name))
    for (const file of [chrome, chromium]) writeFileSync(String(file), '', { mode: 0o755 })
    writeFileSync(String(notRunnable), '', { mode: 0o644 })
    assert.equal(findChromium({ PATH: folder }), chromium)
    assert.equal(findChromium({ PATH: folder, TRUNKLINE_TEST_CHROMIUM: chrome }), chrome)
    assert.equal(findChromium({ PATH: folder, TRUNKLINE_TEST_CHROMIUM: notRunnable }), null)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('only root goes without the sandbox of Chromium', () => {
  assert.ok(chromiumArguments(true).includes('--no-sandbox'))
  assert.ok(!chromiumArguments(false).includes('--no-sandbox'))
})
