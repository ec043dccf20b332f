/**
 * Control calls at the server's side: one reader of the gRPC calls of a port other than tensor streams, with gRPC's
 * health and reflection services on each port. Services register their methods here.
 */
package io.regatta.protocol.call;
