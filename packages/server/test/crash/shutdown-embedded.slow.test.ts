import { shutdown } from './shutdown.ts'

shutdown('embedded')
