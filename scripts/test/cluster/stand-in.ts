// A stand-in for a node, as a program: answers /readyz, names itself in every other answer, and ends gracefully at SIGTERM.
import { createServer } from 'node:http'

const [name = '', port = '0'] = process.argv.slice(2)
let isStopping = false

const server = createServer(({ url }, response) => {
  if (url === '/readyz') response.writeHead(isStopping ? 503 : 200, { connection: 'close' }).end()
  else if (url === '/crash') process.exit(9)
  else if (url === '/slow') {
    // Its answer ends only once the program is to end.
    response.write('begun ')
    process.once('SIGTERM', () => setTimeout(() => response.end('ended'), 300))
  } else response.end(name)
})
process.once('SIGTERM', () => {
  isStopping = true
  server.close(() => process.exit(0))
})
server.listen(Number(port), '127.0.0.1')
