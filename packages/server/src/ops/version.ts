import { readFileSync } from 'node:fs'
import { parseJson } from '@trunkline/core/domain/json'

const manifest = parseJson(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

/** Of the release; `unknown` if the installation has no manifest that says it. */
export const VERSION =
  typeof manifest === 'object' && manifest !== null && 'version' in manifest && typeof manifest.version === 'string'
    ? manifest.version
    : 'unknown'
