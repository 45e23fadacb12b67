import { join, resolve } from 'node:path'
import { whyNotPractice } from '../../config/practice.ts'
import { DemoFile } from '../../ops/demo-platform.ts'
import type { Finding, Known } from '../../preflight/finding.ts'

/** Warns about a demo platform that is left on a service no longer used for practice. */
export function checkDemo({ dataDir, ...known }: Known): readonly Finding[] {
  if (dataDir === undefined) return []
  const why = whyNotPractice(known)
  const file = new DemoFile(join(resolve(dataDir), 'demo-platform.json'))
  const demo = why === null ? null : file.read()
  if (demo === null) return []
  const remedy = `replace the secret with npm run cli -- platform rotate-secret ${demo.client_id}, and delete the file`
  return [{ level: 'warning', about: file.path, message: `holds the secret of a demo platform, and ${why}: ${remedy}` }]
}
