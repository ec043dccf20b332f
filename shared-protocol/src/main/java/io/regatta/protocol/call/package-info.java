/**
 * Control calls at the server's side: one reader of the gRPC calls of a port other than tensor streams, with gRPC's health and
 * reflection services on each port.
 */
package io.regatta.protocol.call;
