/** Prints where a data directory with the newest schema lies, for tests that copy it and import nothing of the service. */
import { storeTemplate } from './template.ts'

process.stdout.write(await storeTemplate())
