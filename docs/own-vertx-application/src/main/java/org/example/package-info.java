/**
 * An application with a clustered Vertx of its own, in which Regatta's services are deployed. Its main method is the
 * way in.
 */
package org.example;
