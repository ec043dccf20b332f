package io.regatta.trainer;

/** The silent {@link Progress} of replicas that do not report. Stateless, any thread. */
enum NoProgress implements Progress {
  INSTANCE;

  @Override
  public void begin(String phase, long examples) {}

  @Override
  public void advance(long examples) {}

  @Override
  public void metric(String name, double value) {}

  @Override
  public void line(String text) {}

  @Override
  public void end() {}

  @Override
  public void close() {}
}
