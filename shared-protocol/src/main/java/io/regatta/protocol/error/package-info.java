/**
 * The translation of errors to and from the statuses of gRPC. All clients and ports call it.
 */
package io.regatta.protocol.error;
