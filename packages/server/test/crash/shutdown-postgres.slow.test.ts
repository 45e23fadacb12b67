import { shutdown } from './shutdown.ts'

shutdown('postgres')
