package io.regatta.fleet.role;

import java.util.Locale;

/** The roles of a process in a job. Configuration names are the lower-case forms. */
public enum Role {
  /** The whole job in this process, tables included, without any service. */
  LOCAL,
  /** One trainer rank. */
  TRAINER,
  /** One parameter server with its shards. */
  PSERVER,
  /** One heter worker, which computes the expensive part of the network for trainers. */
  HETER_WORKER,
  /** The gradient aggregator of this host. */
  AGGREGATOR,
  /** The rendezvous. */
  RENDEZVOUS;

  /** Returns the name in configuration. */
  public String configName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
