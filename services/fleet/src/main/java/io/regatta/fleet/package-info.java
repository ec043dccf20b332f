/**
 * The door to Regatta: the command line, one class for each command, and {@link io.regatta.fleet.LocalCluster}, which
 * runs a whole cluster in one process. Users call it from a shell or from their own main method; everything else is
 * reached from here.
 */
package io.regatta.fleet;
