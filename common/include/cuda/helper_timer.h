/* helper_timer.h - stopwatches of programs derived from NVIDIA's samples, on the host's clock.
 *
 * They measure the duration of the simulation; cudaEventElapsedTime returns simulated time. */
#ifndef SIMULATE_HELPER_TIMER_H
#define SIMULATE_HELPER_TIMER_H

#include <chrono>

class StopWatchInterface
{
  public:
    virtual ~StopWatchInterface()
    {
    }
    virtual void start() = 0;
    virtual void stop() = 0;
    virtual void reset() = 0;
    virtual float getTime() = 0;        /* milliseconds of all runs */
    virtual float getAverageTime() = 0; /* milliseconds of one run */
};

class StopWatchLinux : public StopWatchInterface
{
  public:
    void start()
    {
        begin = std::chrono::steady_clock::now();
        is_running = true;
    }
    void stop()
    {
        total += current();
        runs++;
        is_running = false;
    }
    void reset()
    {
        total = 0, runs = 0;
        begin = std::chrono::steady_clock::now();
    }
    float getTime()
    {
        return total + (is_running ? current() : 0);
    }
    float getAverageTime()
    {
        return runs ? total / static_cast<float>(runs) : 0;
    }

  private:
    float current() const
    {
        std::chrono::duration<float, std::milli> since = std::chrono::steady_clock::now() - begin;
        return since.count();
    }
    std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
    float total = 0;
    int runs = 0;
    bool is_running = false;
};

inline bool sdkCreateTimer(StopWatchInterface **timer)
{
    *timer = new StopWatchLinux;
    return true;
}

inline bool sdkDeleteTimer(StopWatchInterface **timer)
{
    delete *timer;
    *timer = nullptr;
    return true;
}

inline bool sdkStartTimer(StopWatchInterface **timer)
{
    (*timer)->start();
    return true;
}

inline bool sdkStopTimer(StopWatchInterface **timer)
{
    (*timer)->stop();
    return true;
}

inline bool sdkResetTimer(StopWatchInterface **timer)
{
    (*timer)->reset();
    return true;
}

inline float sdkGetTimerValue(StopWatchInterface **timer)
{
    return (*timer)->getTime();
}

inline float sdkGetAverageTimerValue(StopWatchInterface **timer)
{
    return (*timer)->getAverageTime();
}

#endif
